package seat

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/testuser"
)

// Every test here has a naive build of the same act, which must do the damage that ours must not: a race that hurts
// nobody proves nothing.

const (
	raceRuns     = 2000
	controlLimit = 3 * time.Minute // on a busy box of two cores
)

func init() {
	// swap DIR A B exchanges two names until its standard input ends.
	verbs["swap"] = func(a []string) (string, error) {
		x, y := filepath.Join(a[0], a[1]), filepath.Join(a[0], a[2])
		for range untilEOF() {
			unix.Renameat2(unix.AT_FDCWD, x, unix.AT_FDCWD, y, unix.RENAME_EXCHANGE)
		}
		return "", nil
	}
	// churn DIR VICTIM makes a profile and a link to the victim again and again, and exchanges them while they last.
	verbs["churn"] = func(a []string) (string, error) {
		site, evil := filepath.Join(a[0], "example.com"), filepath.Join(a[0], "evil")
		for range untilEOF() {
			os.RemoveAll(evil) // the directory may have ended up there
			os.MkdirAll(site+"/chrome/Default", 0o700)
			os.WriteFile(site+"/chrome/kept", nil, 0o600)
			os.Symlink(a[1], evil)
			for range 50 {
				unix.Renameat2(unix.AT_FDCWD, site, unix.AT_FDCWD, evil, unix.RENAME_EXCHANGE)
			}
		}
		return "", nil
	}
	// removals ROOT VICTIM N HOW makes a profile with a link to the victim in it and removes it while another process
	// of the seat swaps the two; HOW is ours or naive. It stops at the first damage and tells after how many runs.
	verbs["removals"] = removals
}

// untilEOF yields until the standard input ends.
func untilEOF() func(func(struct{}) bool) {
	end := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(end)
	}()
	return func(yield func(struct{}) bool) {
		for {
			select {
			case <-end:
				return
			default:
				if !yield(struct{}{}) {
					return
				}
			}
		}
	}
}

// attack starts an attacker's process and returns what ends it.
func attack(t testing.TB, u testuser.User, verb string, args ...string) (stop func()) {
	t.Helper()
	cmd := testuser.Self(u, append([]string{"as", verb}, args...)...)
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	stop = func() {
		in.Close()
		cmd.Wait()
	}
	t.Cleanup(stop)
	return stop
}

// victim is a directory that no command may touch, given to who, with one thing in it.
type victim struct {
	path string
	who  testuser.User
	was  string
}

func (v *victim) restore(t testing.TB) {
	t.Helper()
	must(t, os.MkdirAll(v.path+"/chrome", 0o700))
	must(t, os.WriteFile(v.path+"/chrome/kept", []byte("kept"), 0o600))
	for _, path := range []string{v.path, v.path + "/chrome", v.path + "/chrome/kept"} {
		must(t, os.Chown(path, v.who.UID, v.who.GID))
	}
	must(t, os.Chmod(v.path, 0o700))
	v.was = v.now(t)
}

func (v *victim) now(t testing.TB) string {
	return facts(t, v.path) + "|" + facts(t, v.path+"/chrome") + "|" + facts(t, v.path+"/chrome/kept")
}

// control runs a naive build until it does damage.
func control(t *testing.T, v *victim, naive func()) {
	t.Helper()
	start := time.Now()
	for runs := 1; ; runs++ {
		naive()
		if v.now(t) != v.was {
			t.Logf("control: the naive build did damage in run %d", runs)
			v.restore(t)
			return
		}
		if time.Since(start) > controlLimit {
			t.Fatalf("control: %d runs of the naive build did no damage: the attack is not real", runs)
		}
	}
}

// victims of a seat's owner: root's own directory by an absolute link, another seat's profile by a relative one.
func victims(t testing.TB, root string, other testuser.User) map[string]*victim {
	as(t, other, "make", root, "example.com").ok(t)
	hers := filepath.Join(root, other.Name, "example.com")
	return map[string]*victim{
		filepath.Join(filepath.Dir(root), "victim"): {path: filepath.Join(filepath.Dir(root), "victim")},
		"../" + other.Name + "/example.com":         {path: hers, who: other},
	}
}

// TestRaceAgainstRoot is row 37: a seat swaps its profile for a link while root sets up and audits.
func TestRaceAgainstRoot(t *testing.T) {
	u, other := testuser.New(t), testuser.New(t)
	root := box(t, u, other)
	seat := filepath.Join(root, u.Name)
	site := filepath.Join(seat, "example.com")
	for target, v := range victims(t, root, other) {
		t.Run(filepath.Base(filepath.Dir(target)), func(t *testing.T) {
			v.restore(t)
			as(t, u, "make", root, "example.com").ok(t)
			link(t, u, target, seat+"/evil")
			stop := attack(t, u, "swap", seat, "example.com", "evil")
			defer func() {
				stop()
				os.RemoveAll(seat + "/evil")
				os.RemoveAll(site)
			}()
			control(t, v, func() {
				os.MkdirAll(site, 0o700)
				os.Chown(site, u.UID, u.GID)
				os.Chmod(site, 0o700)
			})
			auditControl(t, site, u)
			seen := map[bool]int{}
			for range raceRuns {
				must(t, build(root, u, other))
				err := rootAudit(root, u)
				if err != nil && !strings.Contains(err.Error(), "a symbolic link") && !strings.Contains(err.Error(), "not a directory") {
					t.Fatalf("the audit saw something else than the profile or the link: %v", err)
				}
				seen[err == nil]++
				if now := v.now(t); now != v.was {
					t.Fatalf("the victim was %s and is %s", v.was, now)
				}
			}
			if seen[true] == 0 || seen[false] == 0 {
				t.Errorf("the swap was not seen both ways: %v", seen)
			}
		})
	}
}

// auditControl: a naive audit of a swapped path judges the victim instead. os.OpenRoot follows links in its own name.
func auditControl(t *testing.T, site string, u testuser.User) {
	t.Helper()
	for start := time.Now(); time.Since(start) < controlLimit; {
		dir, err := os.OpenRoot(site)
		if err != nil {
			continue
		}
		info, err := dir.Stat(".")
		dir.Close()
		if err == nil && !ownedBy(info, u) {
			return
		}
	}
	t.Fatal("control: the naive audit never judged the wrong directory")
}

// TestRaceAgainstPurge: a seat makes, links and swaps while root deletes the seat.
func TestRaceAgainstPurge(t *testing.T) {
	u, other := testuser.New(t), testuser.New(t)
	root := box(t, u, other)
	seat := filepath.Join(root, u.Name)
	for target, v := range victims(t, root, other) {
		t.Run(filepath.Base(filepath.Dir(target)), func(t *testing.T) {
			v.restore(t)
			must(t, build(root, u))
			stop := attack(t, u, "churn", seat, target)
			control(t, v, func() { naiveRemove(seat + "/example.com") })
			gone := 0
			for range raceRuns / 4 {
				must(t, build(root, u))
				err := Remove(root, u.Name, true, func(string) { gone++ })
				if err != nil && fault.Of(err) != fault.Failed {
					t.Fatal(err)
				}
				if now := v.now(t); now != v.was {
					t.Fatalf("the victim was %s and is %s", v.was, now)
				}
			}
			stop()
			must(t, Remove(root, u.Name, true, func(string) { gone++ }))
			t.Logf("%d of %d removals went through under attack", gone-1, raceRuns/4)
			if facts(t, seat) != "none" {
				t.Errorf("left: %s", facts(t, seat))
			}
			must(t, Remove(root, u.Name, true, func(string) {})) // once more is no error
		})
	}
}

// naiveRemove is what a first attempt looks like: look, then act on the path.
func naiveRemove(path string) {
	info, err := os.Lstat(path)
	if err != nil {
		return
	}
	if info.IsDir() {
		entries, _ := os.ReadDir(path)
		for _, entry := range entries {
			naiveRemove(filepath.Join(path, entry.Name()))
		}
	}
	os.Remove(path)
}

// TestRaceAgainstRemove is row 40, with a victim that the seat itself could delete.
func TestRaceAgainstRemove(t *testing.T) {
	u := testuser.New(t)
	root := box(t, u)
	as(t, u, "ensure", root).ok(t)
	v := &victim{path: filepath.Join(u.Home, "keep"), who: u}
	v.restore(t)
	chrome := filepath.Join(root, u.Name, "example.com", "chrome")
	stop := attack(t, u, "swap", chrome, "dir", "evil")
	if got := as(t, u, "removals", root, v.path, "naive").ok(t).Value; got != "damage" {
		t.Fatalf("control: the naive removal did no damage (%s)", got)
	}
	v.restore(t)
	if got := as(t, u, "removals", root, v.path, "ours").ok(t).Value; got != "none" || v.now(t) != v.was {
		t.Fatalf("%s: the victim was %s and is %s", got, v.was, v.now(t))
	}
	stop()
	if got := facts(t, filepath.Dir(filepath.Dir(chrome))); strings.Contains(got, "example.com") || strings.Contains(got, gonePrefix) {
		t.Errorf("left: %s", got)
	}
}

func removals(a []string) (string, error) {
	root, target, how := a[0], a[1], a[2]
	s, err := Current(root)
	if err != nil {
		return "", err
	}
	site := Site{Host: "example.com"}
	start := time.Now()
	for run := 0; how == "naive" || run < raceRuns/4; run++ {
		if err := plantSwap(s, site, target); err != nil {
			return "", err
		}
		if how == "naive" {
			naiveRemove(s.Profile(site))
		} else if err := removed(s, site); err != nil {
			return "", err
		}
		if _, err := os.Stat(target + "/chrome/kept"); err != nil {
			return "damage", nil
		}
		if time.Since(start) > controlLimit {
			return "time is up", nil
		}
	}
	return "none", nil
}

// removed asks again after a refusal, as a person would: whoever swaps entries fast enough keeps one removal busy until it gives up, and
// the next one finishes it.
func removed(s Seat, site Site) error {
	err := s.Remove(site)
	for try := 0; fault.Of(err) == fault.Failed && try < 50; try++ {
		if err = s.Remove(site); errors.Is(err, os.ErrNotExist) {
			return nil // what was left of it is swept
		}
	}
	return err
}

// plantSwap makes a profile in which chrome/dir, full of files, and chrome/evil, a link to target, are swapped. The
// directory is filled under another name, so that the planting itself writes into no victim.
func plantSwap(s Seat, site Site, target string) error {
	err := os.RemoveAll(s.Profile(site)) // what a naive removal left
	for errors.Is(err, unix.ENOTDIR) {   // it was swapped under RemoveAll too
		err = os.RemoveAll(s.Profile(site))
	}
	if err != nil {
		return err
	}
	fill := s.Profile(site) + "/fill"
	err = errors.Join(os.MkdirAll(s.Chrome(site), 0o700), os.MkdirAll(fill+"/chrome", 0o700))
	for _, name := range []string{"/a", "/b", "/c", "/chrome/kept"} {
		err = errors.Join(err, os.WriteFile(fill+name, nil, 0o600))
	}
	if err == nil {
		err = errors.Join(os.Rename(fill, s.Chrome(site)+"/dir"), os.Symlink(target, s.Chrome(site)+"/evil"))
	}
	return err
}
