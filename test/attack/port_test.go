package attack_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/5dive/browser/internal/testuser"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/test/rfb"
	"github.com/5dive/browser/test/scene"
)

// onlyThePort is row 11: by the kernel's tables and by ss, with a view open.
func onlyThePort(t *testing.T, w *world) {
	v := w.link("the view", w.Mint("local"))
	_, conn := w.Stream(w.enter("the view", v))
	defer conn.Close()
	g := aim(t, w.Scene, w.page(v), w.port)
	service := w.Service()
	for _, l := range g.listeners(t) {
		if l.Proto != "tcp" || l.Address != "0100007F" || l.Port != w.port || !slices.Equal(l.PIDs, []int{service}) {
			t.Errorf("the seat listens: %+v", l)
		}
	}
	out, err := exec.Command("ss", "-H", "-lntup").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := 0
	for line := range strings.Lines(string(out)) {
		for _, p := range scene.Tasks(w.Stage.UID) {
			if !strings.Contains(line, fmt.Sprintf("pid=%d,", p.PID)) {
				continue
			}
			lines++
			if p.PID != service || !strings.Contains(line, fmt.Sprintf(" 127.0.0.1:%d ", w.port)) {
				t.Errorf("ss shows %s", line)
			}
		}
	}
	if lines != 1 {
		t.Errorf("ss shows the seat %d times, want the view's port once", lines)
	}
	w.Must("viewer-revoke", scene.Name)
}

// catchRole listens on an address until stdin closes, and tells how many came.
func catchRole(args []string) error {
	l, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	caught := make(chan int)
	go func() {
		n := 0
		for {
			c, err := l.Accept()
			if err != nil {
				caught <- n
				return
			}
			n++
			c.Close()
		}
	}()
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	l.Close()
	return json.NewEncoder(os.Stdout).Encode(<-caught)
}

// literalAddress is row 14: a second user holds the same port on [::1], where the name localhost may lead first.
func literalAddress(t *testing.T, w *world) {
	v := w.link("the view", w.Mint("local"))
	if !strings.HasPrefix(v.Link, "http://127.0.0.1:") {
		t.Errorf("the link begins with %.17s", v.Link)
	}
	cmd := testuser.Self(w.other, "role", "catch", fmt.Sprintf("[::1]:%d", w.port))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 6)
	if _, err := io.ReadFull(out, said); err != nil {
		t.Fatal(err)
	}
	r, client, conn := w.redeem("the view", v.Nonce)
	conn.Close()
	if r.Target != fmt.Sprintf("127.0.0.1:%d", w.port) || client.Name == "" {
		t.Errorf("the target is %s, the screen %q", r.Target, client.Name)
	}
	in.Close()
	caught, err := io.ReadAll(out)
	if err := errors.Join(err, cmd.Wait()); err != nil || strings.TrimSpace(string(caught)) != "0" {
		t.Errorf("the squatter caught %s connections: %v", caught, err)
	}
	w.Must("viewer-revoke", scene.Name)
}

// x11vncFile is row 16, with its control.
func x11vncFile(t *testing.T) {
	w := newWorld(t, "x11vnc")
	w.Must("ls")
	w.Serve("/login")
	for _, home := range []string{w.Stage.Home(), filepath.Dir(scratch(w)), scratch(w)} { // his home, and what the server has as HOME
		path := filepath.Join(home, ".x11vncrc")
		if err := errors.Join(os.WriteFile(path, []byte("rfbport 5999\nlisten 0.0.0.0\n"), 0o600), os.Chown(path, w.Stage.UID, w.Stage.GID)); err != nil {
			t.Fatal(err)
		}
	}
	v := w.link("the view", w.Mint("local"))
	client, conn := w.Stream(w.enter("the view", v))
	defer conn.Close()
	if err := client.Update(); err != nil {
		t.Fatal(err)
	}
	pid := w.Find("x11vnc")
	g := target{UID: w.Stage.UID}
	for _, l := range g.listeners(t) {
		if slices.Contains(l.PIDs, pid) || l.Port == 5999 {
			t.Errorf("x11vnc listens: %+v", l)
		}
	}
	naive := testuser.Command(w.AsUser(), "x11vnc", "-display", fmt.Sprintf("unix:%d", w.Display()), "-auth", w.Authority(), "-nopw", "-noshm")
	background(t, naive)
	if !scene.Happens(30*time.Second, func() bool {
		return slices.ContainsFunc(g.listeners(t), func(l listener) bool { return l.Port == 5999 })
	}) {
		t.Error("the control failed: a naive x11vnc does not read the file, so this row proves nothing")
	}
}

// scratch is the directory of the open profile.
func scratch(w *world) string { return filepath.Dir(w.Authority()) }

// hardEnd is row 18, with each server, one of them stopped so that it hears no SIGTERM.
func hardEnd(t *testing.T) {
	for _, vnc := range []string{"tigervnc", "x11vnc"} {
		t.Run(vnc, func(t *testing.T) {
			w := newWorld(t, vnc)
			_, forward := w.Clocked(time.Hour)
			w.Serve("/login")
			v := w.link("the view", w.Mint("local"))
			client, conn := w.Stream(w.enter("the view", v))
			defer conn.Close()
			if err := client.Update(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(client.Stream, make([]byte, 64)); err != nil {
				t.Fatalf("no picture: %v", err)
			}
			pid := w.Find(map[string]string{"tigervnc": "X0tigervnc", "x11vnc": "x11vnc"}[vnc])
			scene.Signal(t, pid, syscall.SIGSTOP)
			forward(61 * time.Minute)
			ended := make(chan error, 1)
			go func() { _, err := io.Copy(io.Discard, client.Stream); ended <- err }()
			select {
			case <-ended:
			case <-time.After(30 * time.Second):
				t.Fatal("the stream goes on after the hard end")
			}
			scene.Ended(t, pid, 30*time.Second)
			var r api.WaitResult
			if err := w.Client("seat").Call(scene.Limit(t, time.Minute), api.PathWait, api.WaitRequest{View: v.View}, &r, nil); err != nil || r.End != "limit" {
				t.Errorf("the view ended by %q, %v; want limit", r.End, err)
			}
		})
	}
}

// descriptors is row 19: a VNC server holds no listening socket that is not its own, and no pipe to Chrome.
func descriptors(t *testing.T) {
	for _, vnc := range []string{"tigervnc", "x11vnc"} {
		t.Run(vnc, func(t *testing.T) {
			w := newWorld(t, vnc)
			w.Serve("/login")
			v := w.link("the view", w.Mint("local"))
			client, conn := w.Stream(w.enter("the view", v))
			defer conn.Close()
			if err := client.Update(); err != nil {
				t.Fatal(err)
			}
			pid := w.Find(map[string]string{"tigervnc": "X0tigervnc", "x11vnc": "x11vnc"}[vnc])
			links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
			if err != nil || len(links) < 4 {
				t.Fatalf("descriptors %v, %v", links, err)
			}
			for _, link := range links {
				to, _ := os.Readlink(link)
				switch name := filepath.Base(link); {
				case strings.HasPrefix(to, "socket:"), to == "/dev/null", strings.HasPrefix(to, "anon_inode:"):
				case strings.HasPrefix(to, "pipe:") && (name == "1" || name == "2"):
				default:
					t.Errorf("descriptor %s is %s", name, to)
				}
			}
			for inode, pids := range (&target{UID: w.Stage.UID}).held() {
				if slices.Contains(pids, pid) && slices.Contains(pids, w.Service()) {
					t.Errorf("socket %d is the service's too", inode)
				}
			}
		})
	}
}

// silentRole opens websockets that say nothing, as many as it is told: silent PORT COUNT. It prints the status of each, and waits until the
// other end has closed them.
func silentRole(args []string) error {
	var port, count int
	if _, err := fmt.Sscan(args[0]+" "+args[1], &port, &count); err != nil {
		return err
	}
	var open []net.Conn
	for range count {
		c, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return err
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(time.Minute))
		status := 101
		if _, resp, err := rfb.DialWebsocket(c, fmt.Sprintf("http://127.0.0.1:%d/", port), nil); err == nil {
			open = append(open, c)
		} else if resp != nil {
			status = resp.StatusCode
		} else {
			return err
		}
		fmt.Println(status)
	}
	for _, c := range open {
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			return errors.New("a silent client stays for a minute")
		}
	}
	return nil
}

// silentClients is row 20 on the real port.
func silentClients(t *testing.T, w *world) {
	v := w.link("the view", w.Mint("local"))
	cmd := testuser.Self(w.other, "role", "silent", fmt.Sprint(w.port), "9")
	out := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r, _, conn := w.redeem("the view", v.Nonce) // the seat itself gets in meanwhile
	conn.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if lines := strings.Fields(out.String()); len(lines) < 9 || strings.Join(lines[:9], " ") != strings.Repeat("101 ", 8)+"503" {
		t.Errorf("nine silent clients of one user: %s", out)
	}
	if r.Password == "" {
		t.Error("the seat did not get in")
	}
	w.Must("viewer-revoke", scene.Name)
}
