package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/serve/api"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"5dive":         func() { os.Exit(Main(os.Args, testDeps())) },
		"5dive-browser": func() { os.Exit(Main(os.Args, testDeps())) },
		"bare":          func() { os.Exit(Main(append([]string{"5dive-browser"}, os.Args[1:]...), Deps{Version: "1.2.3"})) },
		"chrome":        fakeChrome,
	})
}

// testDeps are the real verbs against the fake seat of the test that runs them.
func testDeps() Deps {
	return Deps{
		Version: "1.2.3",
		Connect: func(_ context.Context, seat string) (*api.Client, error) {
			if seat == "mallory" {
				return nil, fault.New(fault.Denied, "cannot open seat %s: it is not yours", seat)
			}
			return api.NewClient(func(ctx context.Context) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "unix", os.Getenv("SEAT_SOCKET"))
			}), nil
		},
		Sites: func(_ context.Context, seat string) ([]string, error) {
			return strings.Fields(os.Getenv("SITES" + strings.ToUpper(seat))), nil
		},
		Running: func(context.Context, string) (api.Version, bool) {
			v := os.Getenv("RUNNING")
			return api.Version{Version: v}, v != ""
		},
		Setup: func(_ context.Context, s Setup, report func(string)) error {
			for _, seat := range s.Seats {
				report("seat " + seat + " made")
				if seat == "nobody-such" {
					return fault.New(fault.Config, "cannot make seat %s: no such user", seat)
				}
			}
			if s.Remove != "" {
				report(fmt.Sprintf("seat %s removed, purge %v", s.Remove, s.Purge))
			}
			return nil
		},
		Settings: func(_ context.Context, seat string, c SettingsChange) ([]Setting, error) {
			if c.Set["locale"] == "wrong" {
				return nil, fault.New(fault.Config, "settings:3:13: /locale: not a locale")
			}
			if note := os.Getenv("SETTINGS_NOTE"); note != "" {
				appendLine(note, fmt.Sprintf("%q %+v", seat, c))
			}
			locale := c.Set["locale"]
			return []Setting{{"time_zone", "Europe/Berlin", false}, {"locale", locale, locale == ""}}, nil
		},
		Relay: func(ctx context.Context, r Relay, report func(string)) error {
			report(fmt.Sprintf("relay %+v", r))
			if note := os.Getenv("RELAY_NOTE"); note != "" { // else it ends at once
				appendLine(note, "serving")
				<-ctx.Done()
			}
			return nil
		},
		Seatd:  func(_ context.Context, words []string) error { fmt.Printf("seatd %q\n", words); return nil },
		Keeper: func(_ context.Context, words []string) error { fmt.Printf("keeper %q\n", words); return nil },
		UID: func() int {
			uid, _ := strconv.Atoi(os.Getenv("FAKE_UID"))
			return uid
		},
	}
}

// fakeChrome stands for the browser of a window: it notes its display, says that it runs, and counts the SIGINT that it gets. With
// the word `person` it ends by itself, as a closed window does; with `crash` it ends badly.
func fakeChrome() {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT)
	note := func(text string) { appendLine(os.Args[2], text) }
	note("started on " + os.Getenv("DISPLAY") + " lang " + os.Getenv("LANG"))
	switch os.Args[1] {
	case "person":
		note("closed")
	case "crash":
		os.Exit(3)
	default:
		<-signals
		note("interrupted")
		select {
		case <-signals:
			note("interrupted again")
		case <-time.After(200 * time.Millisecond): // as long as a terminal's own SIGINT may take
		}
	}
	os.Exit(0)
}

func appendLine(path, text string) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintln(f, text)
}

func TestScripts(t *testing.T) {
	golden, err := filepath.Abs("testdata/golden")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			socket, err := startSeat(e.WorkDir, e.Defer)
			e.Setenv("SEAT_SOCKET", socket)
			e.Setenv("GOLDEN", golden)
			e.Setenv("LONG", strings.Repeat("x", 501))
			e.Setenv("FAKE_UID", "0")
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "json": jsonShape},
	})
}

// exits runs a command and holds its exit code against the first word.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE command...")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("cannot run %s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("%s ended with %d, want %s\nstderr: %s", strings.Join(args[1:], " "), got, args[0], ts.ReadFile("stderr"))
	}
}

// jsonShape holds stdout against a golden file, and to one line.
func jsonShape(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: json NAME")
	}
	got := ts.ReadFile("stdout")
	if !json.Valid([]byte(got)) || strings.Count(got, "\n") != 1 {
		ts.Fatalf("not one JSON object on one line: %q", got)
	}
	want := ts.ReadFile(filepath.Join(ts.Getenv("GOLDEN"), args[0]+".json"))
	if got != want {
		ts.Fatalf("JSON of %s changed\ngot  %swant %s", args[0], got, want)
	}
}
