package cli

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/5dive/browser/serve/api"
)

// TestWindow opens windows on a display that is only named: the browser is a stand-in that notes what happens to it.
func TestWindow(t *testing.T) {
	tests := []struct {
		site   string
		signal syscall.Signal // sent to the group once the browser runs
		code   int
		chrome string // what the browser saw
		stderr string
		calls  string // the calls after the window's own
	}{
		{site: "person.com", chrome: "closed", calls: api.PathStop},
		{site: "crash.com", code: 1, stderr: "the browser ended badly: exit status 3 (failed)", calls: api.PathStop},
		{site: "stay.com", signal: syscall.SIGINT, code: 130, chrome: "interrupted", stderr: "auth: interrupted", calls: api.PathStop},
		{site: "stay.com", signal: syscall.SIGTERM, code: 143, chrome: "interrupted", stderr: "auth: interrupted", calls: api.PathStop},
		{site: "taken.com", chrome: "interrupted"},
		{site: "cut.com", code: 1, chrome: "interrupted", stderr: "broke off"},
	}
	for _, test := range tests {
		t.Run(test.site+"-"+test.signal.String(), func(t *testing.T) {
			dir := newSeat(t)
			p := start(t, []string{"DISPLAY=:99", "LANG=xx"}, "auth", test.site)
			if !waitFor(t.Context(), filepath.Join(dir, "chrome"), "started on :99 lang en\n") {
				t.Errorf("the browser did not start on the caller's display and the service's environment alone")
			}
			if test.signal != 0 {
				p.group(test.signal)
			}
			if got := p.code(); got != test.code {
				t.Errorf("exit code %d, want %d; stderr: %s", got, test.code, &p.stderr)
			}
			if !strings.Contains(p.stderr.String(), test.stderr) {
				t.Errorf("stderr %q lacks %q", &p.stderr, test.stderr)
			}
			want := "started on :99 lang en\n"
			if test.chrome != "" {
				want += test.chrome + "\n"
			}
			if got := read(t, dir, "chrome"); got != want {
				t.Errorf("the browser saw %q, want %q", got, want)
			}
			_, after, _ := strings.Cut(read(t, dir, "calls"), "\n")
			if !strings.HasPrefix(after, test.calls) || test.calls == "" && after != "" {
				t.Errorf("calls after the window's: %q, want %q", after, test.calls)
			}
			if want := "site=" + test.site + "\nstate=UNKNOWN (no probe has run)\nkilled=false\n"; test.code == 0 && p.stdout.String() != want {
				t.Errorf("stdout %q, want %q", &p.stdout, want)
			}
		})
	}
}

// TestWindowOpening interrupts the verb while the service still prepares the profile.
func TestWindowOpening(t *testing.T) {
	dir := newSeat(t)
	p := start(t, []string{"DISPLAY=:99"}, "auth", "silent.com")
	waitFor(t.Context(), filepath.Join(dir, "calls"), api.PathWindow)
	p.group(syscall.SIGINT)
	if got := p.code(); got != 130 {
		t.Errorf("exit code %d, want 130; stderr: %s", got, &p.stderr)
	}
}

// TestWindowKilled has a browser that does not end when asked to.
func TestWindowKilled(t *testing.T) {
	notes := filepath.Join(t.TempDir(), "notes")
	deaf := api.Window{Argv: []string{lookPath("bash"), "-c", `trap "" INT; echo started >` + notes + `; while :; do :; done`}, Dir: "/"}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		waitFor(t.Context(), notes, "started")
	}()
	began := time.Now()
	killed, err := window{grace: 50 * time.Millisecond, env: func(string) string { return "" }}.run(context.Background(), deaf, ended)
	if !killed || err != nil {
		t.Errorf("killed %v, error %v", killed, err)
	}
	if took := time.Since(began); took >= saveGrace {
		t.Errorf("took %v", took)
	}
}
