package seat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/testuser"
)

// The test binary doubles as a process of a seat: "as VERB[,VERB]... ARGS..." runs
// some of verbs and prints an answer for each.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "as" {
		for verb := range strings.SplitSeq(os.Args[2], ",") {
			value, err := verbs[verb](os.Args[3:])
			json.NewEncoder(os.Stdout).Encode(answer{Verb: verb, Value: value, Kind: fault.Of(err), Text: text(err), Hint: fault.Hint(err)})
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type answer struct {
	Verb  string
	Value string
	Kind  fault.Kind
	Text  string
	Hint  string
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// verbs are what a seat's process does; the first argument is the store.
var verbs = map[string]func(args []string) (string, error){
	"current": func(a []string) (string, error) {
		s, err := Current(a[0])
		return fmt.Sprintf("%s embedded=%v", s.Dir(), s.Embedded), err
	},
	"ensure":  func(a []string) (string, error) { return "", with(a, Seat.Ensure) },
	"audit":   func(a []string) (string, error) { return "", with(a, Seat.Audit) },
	"profile": func(a []string) (string, error) { return "", withSite(a, Seat.AuditProfile) },
	"make":    func(a []string) (string, error) { return "", withSite(a, Seat.Make) },
	"remove":  func(a []string) (string, error) { return "", withSite(a, Seat.Remove) },
	"lock": func(a []string) (string, error) {
		return "", withSite(a, func(s Seat, site Site) error {
			_, err := s.Lock(site) // held until this process ends
			return err
		})
	},
	"sites": func(a []string) (string, error) {
		var list []string
		err := with(a, func(s Seat) error {
			sites, err := s.Sites()
			for _, site := range sites {
				list = append(list, site.ID())
			}
			return err
		})
		return strings.Join(list, " "), err
	},
	"settings": func(a []string) (string, error) {
		var value Settings
		err := with(a, func(s Seat) (err error) { value, err = s.Settings(); return err })
		return fmt.Sprintf("%+v", value), err
	},
	"stamp": func(a []string) (string, error) {
		return "", withSite(a, func(s Seat, site Site) error { _, err := s.Stamp(site); return err })
	},
	"note": func(a []string) (string, error) {
		return "", with(a, func(s Seat) error { return s.Note(Event{Name: Served, Site: "example.com"}) })
	},
}

func with(args []string, do func(Seat) error) error {
	s, err := Current(args[0])
	if err != nil {
		return err
	}
	return do(s)
}

func withSite(args []string, do func(Seat, Site) error) error {
	return with(args, func(s Seat) error {
		site, err := ParseSite(args[1])
		if err != nil {
			return err
		}
		return do(s, site)
	})
}

// as runs one verb as user u.
func as(t testing.TB, u testuser.User, verb string, args ...string) answer {
	t.Helper()
	return ask(t, testuser.Self(u, append([]string{"as", verb}, args...)...))
}

func ask(t testing.TB, cmd *exec.Cmd) answer {
	t.Helper()
	all := askAll(t, cmd)
	return all[len(all)-1]
}

// asEach runs several verbs as user u, one after the other in one process.
func asEach(t testing.TB, u testuser.User, list []string, args ...string) []answer {
	t.Helper()
	return askAll(t, testuser.Self(u, append([]string{"as", strings.Join(list, ",")}, args...)...))
}

func askAll(t testing.TB, cmd *exec.Cmd) []answer {
	t.Helper()
	out, err := cmd.Output()
	var all []answer
	for lines := json.NewDecoder(bytes.NewReader(out)); err == nil; {
		var a answer
		if err = lines.Decode(&a); err == nil {
			all = append(all, a)
		}
	}
	if errors.Is(err, io.EOF) && len(all) > 0 {
		return all
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("%v: %v: %s", cmd.Args, err, exit.Stderr)
	}
	t.Fatalf("%v: %v: %q", cmd.Args, err, out)
	return nil
}

// ok fails the test unless the verb worked.
func (a answer) ok(t testing.TB) answer {
	t.Helper()
	if a.Kind != "" {
		t.Fatalf("%s refused (%s): %s", a.Verb, a.Kind, a.Text)
	}
	return a
}

// refused fails the test unless the verb was refused with this kind and these words.
func (a answer) refused(t testing.TB, kind fault.Kind, words string) {
	t.Helper()
	if a.Kind != kind || !strings.Contains(a.Text, words) {
		t.Fatalf("%s: have (%s) %q, want (%s) %q", a.Verb, a.Kind, a.Text, kind, words)
	}
}

// place is a directory of root's with nothing but root's above it: where a box has its store. /tmp would be refused.
func place(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/lib", "fdt-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	return dir
}

// box sets up a store with a seat for each user, and returns its root.
func box(t testing.TB, users ...testuser.User) string {
	t.Helper()
	root := filepath.Join(place(t), "profiles")
	must(t, build(root, users...))
	return root
}

// build is Setup with a directory of X's sockets of its own, so that tests leave the box's alone.
func build(root string, users ...testuser.User) error {
	var names []string
	for _, u := range users {
		names = append(names, u.Name)
	}
	return setup(root, names, &builder{act: true, sockets: filepath.Join(filepath.Dir(root), "x11")})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sh runs a command as root.
func sh(t testing.TB, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", argv, err, out)
	}
}

// shAs runs a command as user u and returns what it said and whether it worked.
func shAs(u testuser.User, argv ...string) (string, error) {
	out, err := testuser.Command(u, argv...).CombinedOutput()
	return string(out), err
}
