package life_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/testuser"
	"github.com/5dive/browser/seat"
	"github.com/5dive/browser/test/scene"
)

// Root works for a seat by --seat, with the seat's rights: what runs and what is written is the seat's.
func TestRootForSeat(t *testing.T) {
	s := scene.NewBox(t)
	root := func(words ...string) string {
		t.Helper()
		out, err := s.Root(scene.Limit(t, 2*time.Minute), append(words, "--seat="+s.Stage.User)...)
		if err != nil {
			t.Fatalf("%v: %v: %s", words, err, out)
		}
		return out
	}
	path, _ := s.Site.Enter(true)
	root("serve", scene.Name, "--url="+s.Origin+path)
	s.Account(true)
	for _, word := range []string{"seatd", "keeper", "Xvfb", "chrome"} {
		s.Find(word) // under the seat's uid
	}
	filepath.WalkDir(s.Stage.Dir(), func(path string, _ os.DirEntry, err error) error {
		var st unix.Stat_t
		if err == nil && unix.Lstat(path, &st) == nil && (int(st.Uid) != s.Stage.UID || int(st.Gid) != s.Stage.GID) {
			t.Errorf("%s belongs to %d:%d", path, st.Uid, st.Gid)
		}
		return nil
	})
	for _, p := range scene.Tasks(s.Stage.UID) { // no group of root's came along
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID))
		for line := range strings.Lines(string(status)) {
			if rest, ok := strings.CutPrefix(line, "Groups:"); ok && strings.TrimSpace(rest) != "" && strings.TrimSpace(rest) != fmt.Sprint(s.Stage.GID) {
				t.Errorf("%v has groups %s", p, rest)
			}
			if rest, ok := strings.CutPrefix(line, "CapEff:"); ok && strings.Trim(strings.TrimSpace(rest), "0") != "" && p.Name == "5dive" && len(p.Argv) > 2 && p.Argv[2] == "seatd" {
				t.Errorf("%v has capabilities %s", p, rest)
			}
		}
	}
	root("serve", scene.Name, "--stop")
	s.Kept(true) // the seat itself finds the login
	out, err := s.Root(scene.Limit(t, time.Minute), "serve", scene.Name)
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 77 {
		t.Errorf("root without --seat: %v: %s", err, out)
	}
	s.Refused(77, "ls", "--seat=daemon")
}

// A seat with a long name works in a store whose path is as long as the product's own, where Unix sockets are near their limit.
func TestLongNames(t *testing.T) {
	s := scene.NewBoxAt(t, len(seat.DefaultRoot), 32)
	s.Serve("/login")
	_, client, conn := s.Look()
	defer conn.Close()
	s.Picture(client)
	s.Stop()
}

// A store that fails the audit: each verb that touches it ends with 77, says what it has and what is wanted, and repairs nothing; with a
// service running already and with none.
func TestAuditFails(t *testing.T) {
	s := scene.NewBox(t)
	s.SignIn(true)
	s.Stop()
	rows := spoilt(testuser.New(t))
	for _, when := range []struct {
		name string
		make func()
		look func(t *testing.T, s *scene.Scene, whole bool)
	}{
		{"a service runs", func() { s.Must("ls") }, refusesAll},
		{"no service runs", s.Ends, refusesAll},
		{"the profile is served", func() { s.Again(true) }, refusesServed},
	} {
		when.make()
		for _, row := range rows {
			t.Run(when.name+", "+row.name, func(t *testing.T) {
				undo := row.plant(s)
				defer undo()
				before := facts(s)
				when.look(t, s.In(t), row.whole)
				if after := facts(s); after != before {
					t.Errorf("repaired or changed: %s to %s", before, after)
				}
			})
		}
	}
	s.Stop()
	s.Kept(true)
}

// refusesAll holds every verb that touches store or profile to code 77.
func refusesAll(t *testing.T, s *scene.Scene, whole bool) {
	for _, words := range [][]string{{"serve", scene.Name}, {"serve", scene.Name, "--stop"}, {"viewer", scene.Name, "--bind=local"}, {"viewer-revoke", scene.Name},
		{"status", scene.Name}, {"auth", scene.Name}} {
		if said := s.Refused(77, words...); !strings.Contains(said, "want") || strings.Count(strings.TrimSpace(said), "\n") > 1 {
			t.Errorf("%v says: %s", words, said)
		}
	}
	if whole {
		s.Refused(77, "serve", "another.example")
		s.Refused(77, "ls")
	} else if list := s.Must("ls"); !strings.Contains(list, scene.Name) { // one bad profile hides no list
		t.Errorf("ls says: %s", list)
	}
	if n := len(s.All("chrome")); n > 0 {
		t.Errorf("%d Chromes run", n)
	}
}

// refusesServed holds the verbs to that also where the browser is open already.
func refusesServed(t *testing.T, s *scene.Scene, _ bool) {
	s.Refused(77, "serve", scene.Name)
	s.Refused(77, "viewer", scene.Name, "--bind=local")
	if n := len(s.All("chrome")); n != 1 {
		t.Errorf("%d Chromes run", n)
	}
}

// spoil is one fault of a store.
type spoil struct {
	name  string
	whole bool // the whole store, not this profile alone
	plant func(s *scene.Scene) (undo func())
}

func spoilt(other testuser.User) []spoil {
	return []spoil{
		{"seat 0750", true, func(s *scene.Scene) func() { return mode(s, s.Stage.Dir(), 0o750, 0o700) }},
		{"state 0755", true, func(s *scene.Scene) func() { return mode(s, s.State(), 0o755, 0o700) }},
		{"ancestor 0775", true, func(s *scene.Scene) func() { return mode(s, filepath.Dir(s.Stage.Root), 0o775, 0o755) }},
		{"ACL on the seat", true, func(s *scene.Scene) func() {
			facl(s, "-m", "u:"+other.Name+":rx", s.Stage.Dir())
			must(s, os.Chmod(s.Stage.Dir(), 0o700))
			return func() { facl(s, "-b", s.Stage.Dir()) }
		}},
		{"default ACL on the profile", false, func(s *scene.Scene) func() {
			facl(s, "-d", "-m", "u:"+other.Name+":rx", s.Profile())
			return func() { facl(s, "-k", s.Profile()) }
		}},
		{"profile 0711", false, func(s *scene.Scene) func() { return mode(s, s.Profile(), 0o711, 0o700) }},
		{"foreign link in the profile", false, func(s *scene.Scene) func() {
			link := filepath.Join(s.Profile(), "chrome", "Default", "etc")
			must(s, os.Symlink("/etc", link))
			must(s, os.Lchown(link, s.Stage.UID, s.Stage.GID))
			return func() { must(s, os.Remove(link)) }
		}},
		{"second name of the cookie file", false, func(s *scene.Scene) func() {
			link := filepath.Join(s.Profile(), "chrome", "again")
			must(s, os.Link(filepath.Join(s.Profile(), "chrome", "Default", "Preferences"), link))
			return func() { must(s, os.Remove(link)) }
		}},
	}
}

func must(s *scene.Scene, err error) {
	s.T.Helper()
	if err != nil {
		s.T.Fatal(err)
	}
}

func mode(s *scene.Scene, path string, bad, good os.FileMode) func() {
	must(s, os.Chmod(path, bad))
	return func() { must(s, os.Chmod(path, good)) }
}

func facl(s *scene.Scene, words ...string) {
	s.T.Helper()
	if out, err := exec.Command("setfacl", words...).CombinedOutput(); err != nil {
		s.T.Fatalf("setfacl: %v: %s", err, out)
	}
}

// facts are modes, owners and ACLs of the places that a row spoils.
func facts(s *scene.Scene) string {
	var all strings.Builder
	for _, path := range []string{filepath.Dir(s.Stage.Root), s.Stage.Root, s.Stage.Dir(), s.State(), s.Profile(), filepath.Join(s.Profile(), "chrome")} {
		var st unix.Stat_t
		err := unix.Lstat(path, &st)
		size, _ := unix.Listxattr(path, nil)
		fmt.Fprintln(&all, path, st.Mode, st.Uid, st.Gid, size, err)
	}
	return all.String()
}

// A seat's directory that is not there is 77 with root's command to make it, and a verb makes none.
func TestNoSeat(t *testing.T) {
	s := scene.NewBox(t)
	must(s, os.RemoveAll(s.Stage.Dir()))
	if said := s.Refused(77, "serve", scene.Name); !strings.Contains(said, "sudo 5dive browser setup --seat="+s.Stage.User) {
		t.Errorf("said: %s", said)
	}
	if _, err := os.Lstat(s.Stage.Dir()); err == nil {
		t.Error("the verb made the seat's directory")
	}
	if _, ok := s.Stage.Service(); ok {
		t.Error("a service runs")
	}
}
