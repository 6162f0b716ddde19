package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/viewer/bridge"
)

// serve is the child: a bridge and nothing else. It prints its address and ends on SIGINT.
func serve(path string) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	gate := bridge.Upgrader{Hosts: []string{l.Addr().String()}}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ws, err := gate.Upgrade(w, r); err == nil {
			bridge.Carry(r.Context(), ws, screen(path), bridge.Options{})
		}
	})
	go http.Serve(l, handler)
	fmt.Println(l.Addr())
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	<-interrupted
}

// screen is a VNC server on a Unix socket, with keys that go nowhere.
type screen string

func (s screen) Dial(ctx context.Context) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "unix", string(s))
}
func (screen) Key(uint32, bool) error { return nil }
func (screen) Touched()               {}
func (screen) ReleaseKeys()           {}

// contender is a running bridge or websockify.
type contender struct {
	cmd  *exec.Cmd
	addr string
}

// start starts one on a VNC server's socket.
func start(ctx context.Context, kind, path string) (*contender, error) {
	if kind == "websockify" {
		return websockify(ctx, path)
	}
	cmd := exec.CommandContext(ctx, os.Args[0], "-serve", path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	c := &contender{cmd, strings.TrimSpace(line)}
	if err != nil {
		c.stop()
	}
	return c, err
}

// websockify takes a port by number only, so it gets one that was free a moment ago; it says on stdout when it listens.
func websockify(ctx context.Context, path string) (*contender, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := l.Addr().String()
	l.Close()
	cmd := exec.CommandContext(ctx, "websockify", "--unix-target="+path, addr)
	cmd.Env = append(os.Environ(), "PYTHONUNBUFFERED=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &contender{cmd, addr}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "proxying from") {
			go func() { // ends with the process
				for lines.Scan() {
				}
			}()
			return c, nil
		}
	}
	c.stop()
	return nil, fmt.Errorf("websockify ended before it listened")
}

// stop ends it and its children. With SIGINT one in four websockifys of 50 viewers never ended.
func (c *contender) stop() {
	for _, pid := range tree(c.cmd.Process.Pid) {
		unix.Kill(pid, unix.SIGKILL)
	}
	c.cmd.Wait()
}
