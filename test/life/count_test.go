package life_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/test/scene"
)

// counts are what may not grow.
type counts struct{ processes, zombies, descriptors, scratch, temp int }

func count(t *testing.T, s *scene.Scene) counts {
	t.Helper()
	var c counts
	for _, p := range scene.Tasks(s.Stage.UID) {
		c.processes++
		if p.Zombie() {
			c.zombies++
		}
	}
	if pid, ok := s.Stage.Service(); ok {
		c.descriptors = descriptors(t, pid)
	}
	c.scratch = len(s.Leftovers())
	for _, place := range []string{"/tmp", "/dev/shm", "/var/tmp"} {
		entries, _ := os.ReadDir(place)
		for _, e := range entries {
			var st unix.Stat_t
			if unix.Lstat(filepath.Join(place, e.Name()), &st) == nil && int(st.Uid) == s.Stage.UID {
				c.temp++
			}
		}
	}
	x11, _ := os.ReadDir("/tmp/.X11-unix")
	for _, e := range x11 {
		var st unix.Stat_t
		if unix.Lstat("/tmp/.X11-unix/"+e.Name(), &st) == nil && int(st.Uid) == s.Stage.UID {
			c.temp++
		}
	}
	return c
}

func descriptors(t *testing.T, pid int) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// P06, views cut by kill -9 of the service: the numbers are as before.
func TestCutViewsLeaveNothing(t *testing.T) {
	s := written(t)
	s.Stop()
	scene.Signal(t, s.Service(), syscall.SIGTERM)
	s.Nothing(soon)
	before := count(t, s)
	for range cutViews {
		s.Serve("/account")
		_, _, conn := s.Look()
		scene.Signal(t, s.Service(), syscall.SIGKILL)
		conn.Close()
		s.Nothing(soon)
	}
	s.Again(true)
	s.Stop()
	scene.Signal(t, s.Service(), syscall.SIGTERM)
	s.Nothing(soon)
	if after := count(t, s); after != before {
		t.Errorf("before %+v, after %+v", before, after)
	}
	tree(t, s)
}

// P06, starts and stops: processes, files and the service's own descriptors stay level.
func TestCyclesStayLevel(t *testing.T) {
	s := written(t)
	s.Stop()
	s.Alone(s.Service(), soon)
	before := count(t, s)
	for range cycles {
		s.Again(true)
		_, _, conn := s.Look()
		conn.Close()
		s.Stop()
	}
	s.Alone(s.Service(), soon)
	before.descriptors += 2 // the view's port, bound with the first link and kept, and one connection of a client that may yet be open
	ok := scene.Happens(soon, func() bool {
		after := count(t, s)
		return after.descriptors <= before.descriptors && after.processes == before.processes && after.zombies == 0 && after.scratch == 0 && after.temp == before.temp
	})
	if !ok {
		t.Errorf("before %+v, after %+v", before, count(t, s))
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", s.Service()))
		for _, link := range links {
			to, _ := os.Readlink(link)
			t.Log(link, to)
		}
	}
	tree(t, s)
}

// tree holds the seat's directory to the files that are known: nothing piles up there.
func tree(t *testing.T, s *scene.Scene) {
	t.Helper()
	for _, dir := range []string{s.Run(), s.State()} {
		filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(s.Stage.Dir(), path)
			switch known := strings.TrimPrefix(rel, "."); {
			case err != nil || e.IsDir() && (rel == ".run" || rel == ".state" || rel == ".run/locks" || rel == ".state/stamps"):
			case strings.HasPrefix(known, "run/locks/"), known == "run/service.lock", known == "run/start.lock", known == "run/seat.sock", known == "run/relay.sock":
			case known == "state/events.ndjson", known == "state/service.log", known == "state/served.json", known == "state/port":
			default:
				t.Errorf("left in the seat's directory: %s", rel)
			}
			return nil
		})
	}
}

// A service that is the child of a careless parent has no child of its own left unwaited: zombies of the whole machine that are ours.
func TestNoZombies(t *testing.T) {
	s := scene.New(t)
	for range 3 {
		s.Serve("/login")
		_, _, conn := s.Look()
		conn.Close()
		s.Must("viewer-revoke", scene.Name)
	}
	if ok := scene.Happens(5*time.Second, func() bool { return count(t, s).zombies == 0 }); !ok {
		t.Errorf("zombies: %+v", scene.Tasks(s.Stage.UID))
	}
}
