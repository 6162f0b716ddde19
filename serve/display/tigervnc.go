package display

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/5dive/browser/internal/fault"
)

// listenTimeout: X0tigervnc listens after 40 ms on an idle box.
const listenTimeout = 10 * time.Second

// startTiger starts TigerVNC's scraping server on the display.
func (d *Display) startTiger(ctx context.Context, path, socket string) (*VNC, error) {
	ctx, cancel := context.WithTimeout(ctx, listenTimeout)
	defer cancel()
	args := append(d.tigerArgs(socket), d.tigerClipboard(ctx, path)...)
	c, err := spawn(spec{path: path, args: args, env: d.clientEnvironment(), dir: d.config.Scratch, follow: true})
	if err != nil {
		return nil, err
	}
	v := &VNC{socket: socket, done: make(chan struct{}), stop: c.end}
	go func() {
		<-c.done
		os.Remove(socket)
		close(v.done)
	}()
	if err := awaitListener(ctx, socket, c); err != nil {
		v.Close()
		return nil, err
	}
	return v, nil
}

// tigerArgs: without -rfbport -1 it opens a TCP port on all interfaces, with a Unix socket too. Its blacklist counts
// connections that say nothing, and all of ours are one client to it. Its shared memory is mode 0777.
func (d *Display) tigerArgs(socket string) []string {
	args := []string{"X0tigervnc", "-display", d.Name(), "-rfbport", "-1", "-rfbunixpath", socket, "-rfbunixmode", "384",
		"-SecurityTypes", "None", "-UseBlacklist=0", "-AcceptSetDesktopSize=0", "-AcceptKeyEvents=0",
		"-FrameRate", "240", "-desktop", "browser", "-Log", "*:stderr:10"}
	if !d.config.SharedMemory {
		args = append(args, "-UseSHM=0")
	}
	return args
}

// tigerClipboard switches the clipboard off where this version has one: 1.12 has none and refuses the words, later ones
// would ask for the selection in which a password is on its way, and send it to the viewer.
func (d *Display) tigerClipboard(ctx context.Context, path string) []string {
	cmd := exec.CommandContext(ctx, path, "-help")
	cmd.Env = environment(d.config.Scratch)
	help, _ := cmd.CombinedOutput() // it exits 1 after its help
	var off []string
	for _, word := range []string{"AcceptCutText", "SendCutText", "SetPrimary", "SendPrimary"} {
		if strings.Contains(string(help), "  "+word+" ") {
			off = append(off, "-"+word+"=0")
		}
	}
	return off
}

// awaitListener waits until the socket listens. Nothing tells of listen(2), and a connection would be the server's first
// client, so the kernel's list is looked at every few milliseconds.
func awaitListener(ctx context.Context, socket string, c *child) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		up, err := listening(socket)
		if err != nil || up {
			return err
		}
		select {
		case <-tick.C:
		case <-c.done:
			return fault.New(fault.Failed, "cannot start %s: %s", c.name, c.said.last())
		case <-ctx.Done():
			return cause(ctx, "start "+c.name)
		}
	}
}

// listening tells whether a Unix socket with this path is in state listening (flag SO_ACCEPTCON, proc(5)). It reads
// /proc/self: /proc/net is a link that ProcSubset=pid leaves dangling.
func listening(socket string) (bool, error) {
	table, err := os.ReadFile("/proc/self/net/unix")
	if err != nil {
		return false, fault.New(fault.Failed, "cannot see the sockets of this box: %w", err)
	}
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line)
		if len(f) == 8 && f[7] == socket && f[3] == "00010000" {
			return true, nil
		}
	}
	return false, nil
}
