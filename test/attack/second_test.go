package attack_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/testuser"
	"github.com/5dive/browser/test/scene"
)

// The main attack, with each VNC server: a seat is used from the first serve to Done while a second user of the machine tries everything,
// and two watchers of /proc look at every process that there ever is. Afterwards everything that is left on disk is searched.
func TestSecondUser(t *testing.T) {
	for _, vnc := range []string{"tigervnc", "x11vnc"} {
		t.Run(vnc, func(t *testing.T) { secondUser(t, newWorld(t, vnc)) })
	}
}

func secondUser(t *testing.T, w *world) {
	coresOn(t) // as in a shell with ulimit -c unlimited
	asOther := watch(t, testuser.Self(w.other, "role", "watch", "1ms"))
	asRoot := watch(t, exec.Command("/proc/self/exe", "role", "watch", "10ms"))
	naive := canary()
	caught(func(argv ...string) *exec.Cmd { return testuser.Command(w.AsUser(), argv...) }, naive)

	path, key := w.Site.Enter(false)
	w.secrets["the token of the address"] = key.Reveal()
	_ = path // an address with a token is package browser's row 23: the verb's own words show what its caller wrote there
	w.Serve("/login")
	w.outsider()
	w.sender()
	w.Stop() // the text box put a text into the form
	w.Serve("/login")
	v := w.link("the third view", w.Mint("local"))
	p := w.visitor(v)
	w.typed(p)
	g := aim(t, w.Scene, w.page(v), w.port)
	w.attacked(t, g)
	w.limits(t)
	w.signs(p)
	w.Kept(true)

	w.noLeak(t, asOther(), asRoot(), naive)
	w.Must("ls")
	w.searched(t)
}

// attacked runs the attempts as the second user, as root of a user namespace of his, and as the seat itself for control.
func (w *world) attacked(t *testing.T, g target) {
	t.Helper()
	me, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer me.Close()
	inside := testuser.Command(w.other, "unshare", "--user", "--map-root-user", "/proc/self/fd/3", "role", "intrude")
	inside.ExtraFiles = []*os.File{me}
	for who, cmd := range map[string]*exec.Cmd{"the second user": testuser.Self(w.other, "role", "intrude"), "root of his user namespace": inside} {
		all, err := intrude(cmd, g)
		if err != nil {
			t.Fatalf("%s: %v", who, err)
		}
		for _, r := range all {
			if r.Err == "" && r.Name != "see the page, which says nothing" {
				t.Errorf("%s got in: %s", who, r.Name)
			}
		}
		t.Logf("%s made %d attempts", who, len(all))
	}
	all, err := intrude(w.Self("intrude"), g)
	if err != nil {
		t.Fatal(err)
	}
	controls := 0
	for _, r := range all {
		if r.Control {
			controls++
			if r.Err != "" {
				t.Errorf("the seat itself was refused, so the attempt proves nothing: %s: %s", r.Name, r.Err)
			}
		}
	}
	if controls < 25 {
		t.Errorf("only %d controls", controls)
	}
}

// coresOn lets this process and what it starts write core files.
func coresOn(t *testing.T) {
	t.Helper()
	var was unix.Rlimit
	if err := errors.Join(unix.Getrlimit(unix.RLIMIT_CORE, &was),
		unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY})); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Setrlimit(unix.RLIMIT_CORE, &was) })
}

// limits holds every process of the seat to writing no core file, whatever the limit of the shell was that ran the verb.
func (w *world) limits(t *testing.T) {
	t.Helper()
	for _, p := range scene.Tasks(w.Stage.UID) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", p.PID))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); strings.HasPrefix(line, "Max core file size") && f[4] != "0" {
				t.Errorf("a core file of %s bytes may hold the memory of %v", f[4], p)
			}
		}
	}
}
