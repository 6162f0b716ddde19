package browser

import (
	"bufio"
	"context"
	"crypto/rand"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/5dive/browser/test/site"
)

// rig is one profile on one X display in front of one demo site.
type rig struct {
	t         *testing.T
	binary    Binary
	site      *site.Site
	origin    string // of the site
	top       string
	userData  string
	scratch   string
	display   string
	authority string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	binary, err := Find("")
	if err != nil {
		t.Fatal(err)
	}
	top, err := os.MkdirTemp("/tmp", "fdb") // t.TempDir is too long for a Unix socket below it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	r := &rig{t: t, binary: binary, top: top, userData: filepath.Join(top, "chrome"), scratch: filepath.Join(top, "s")}
	for _, dir := range []string{r.userData, r.scratch} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.site = site.New(site.Config{})
	server := httptest.NewServer(r.site)
	t.Cleanup(server.Close)
	r.origin = server.URL
	r.startX()
	return r
}

// startX starts an Xvfb that admits one cookie only.
func (r *rig) startX() {
	r.t.Helper()
	r.authority = filepath.Join(r.top, "cookie")
	record := append([]byte{0xff, 0xff, 0, 0, 0, 0, 0, 18}, "MIT-MAGIC-COOKIE-1"...)
	key := make([]byte, 16)
	rand.Read(key)
	record = append(append(record, 0, 16), key...)
	if err := os.WriteFile(r.authority, record, 0o600); err != nil {
		r.t.Fatal(err)
	}
	number, told, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	defer number.Close()
	x := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset", "-auth", r.authority)
	x.ExtraFiles = []*os.File{told}
	if err := x.Start(); err != nil {
		r.t.Fatal(err)
	}
	told.Close()
	r.t.Cleanup(func() { x.Process.Kill(); x.Wait() })
	number.SetReadDeadline(time.Now().Add(10 * time.Second))
	text, err := bufio.NewReader(number).ReadString('\n') // Xvfb dies if it cannot write the line to its end
	if err != nil {
		r.t.Fatalf("Xvfb told no display: %v", err)
	}
	r.display = "unix:" + strings.TrimSpace(text)
}

// person is the profile's Chrome on a page of the site; "" is its front page.
func (r *rig) person(path string) Person {
	return Person{Binary: r.binary, UserData: r.userData, Scratch: r.scratch, URL: r.origin + path, Display: r.display, Authority: r.authority, TimeZone: "Pacific/Auckland"}
}

// running is one started Chrome.
type running struct {
	*exec.Cmd
	r    *rig
	done chan struct{}
}

// start does what every caller of the package does.
func (r *rig) start(path string) *running {
	r.t.Helper()
	if _, err := ClearStale(r.userData); err != nil {
		r.t.Fatal(err)
	}
	p := r.person(path)
	if err := p.Prepare(); err != nil {
		r.t.Fatal(err)
	}
	cmd, err := p.Command()
	if err != nil {
		r.t.Fatal(err)
	}
	return r.run(cmd)
}

func (r *rig) run(cmd *exec.Cmd) *running {
	r.t.Helper()
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	c := &running{Cmd: cmd, r: r, done: make(chan struct{})}
	go func() { cmd.Wait(); close(c.done) }()
	r.t.Cleanup(c.kill)
	return c
}

func (c *running) pid() int { return c.Process.Pid }

// kill ends the whole group.
func (c *running) kill() {
	syscall.Kill(-c.pid(), syscall.SIGKILL)
	<-c.done
}

// stop interrupts Chrome and waits for its end.
func (c *running) stop() {
	c.r.t.Helper()
	if err := Interrupt(c.pid()); err != nil {
		c.r.t.Fatal(err)
	}
	select {
	case <-c.done:
	case <-time.After(15 * time.Second):
		c.r.t.Fatal("Chrome did not end within 15 s of SIGINT")
	}
}

// wait is the deadline of one thing that a Chrome does; it is long because the machine may be busy.
func (r *rig) wait() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	r.t.Cleanup(cancel)
	return ctx
}
