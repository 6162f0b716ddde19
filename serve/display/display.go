package display

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/5dive/browser/internal/fault"
)

const (
	startTimeout = 20 * time.Second // Xvfb answers in 0.1 s; a box under load has been seen to need 3 s
	endGrace     = 2 * time.Second  // from SIGTERM to SIGKILL
)

// Config says what screen to make. Width and Height 0 mean 1280x800.
type Config struct {
	Scratch       string // an existing directory of mode 0700 that belongs to the caller; its path is short (a socket stands in it)
	Width, Height int    // the first size in pixels, made to fit as by Resize
	SharedMemory  bool   // true only inside a private IPC namespace: Chromium's segments are open to every user of the namespace
	Checked       bool   // the caller ran CheckDirectory; inside a user namespace root is not to be told from others

	faults faults
}

// faults lets a test break a start where a real machine or an attacker could. The zero value breaks nothing.
type faults struct {
	number       int // the number to begin at
	args         func([]string) []string
	beforeServer func(number int, authority string)
	beforeProbe  func(number int, authority string)
}

// Display is a running screen. Its methods may be called from several goroutines; Close ends it.
type Display struct {
	config    Config
	number    int
	authority string
	name      *reservation
	server    *child
	link      *link
	wm        *manager

	mu     sync.Mutex
	vnc    *VNC
	served int
	closed bool
}

// Start makes a screen and returns when its window manager answers. ctx bounds the start only; the screen then lives
// until Close, or until Xvfb ends. A failed start leaves nothing running and no file behind.
func Start(ctx context.Context, config Config) (*Display, error) {
	if err := config.settle(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	d := &Display{config: config}
	if err := d.start(ctx); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *Display) start(ctx context.Context) (err error) {
	if d.authority, err = writeCookie(d.config.Scratch); err != nil {
		return err
	}
	if err = d.startServer(ctx); err != nil {
		return err
	}
	if _, _, err = d.link.resize(d.config.Width, d.config.Height); err != nil {
		return err
	}
	d.wm, err = startManager(ctx, d)
	return err
}

func (c *Config) settle() error {
	if c.Width == 0 && c.Height == 0 {
		c.Width, c.Height = 1280, 800
	}
	info, err := os.Lstat(c.Scratch)
	switch {
	case err != nil:
		return fault.New(fault.Failed, "cannot use the scratch directory: %w", err)
	case !info.IsDir() || info.Mode().Perm() != 0o700 || ownerOf(info) != os.Geteuid():
		return fault.New(fault.Denied, "cannot use the scratch directory %s: want a directory of mode 0700 of uid %d, have %s of uid %d",
			c.Scratch, os.Geteuid(), info.Mode(), ownerOf(info))
	}
	return nil
}

// Number is the display number n.
func (d *Display) Number() int { return d.number }

// Name is the value of DISPLAY for a client. It begins with "unix:", so that no client falls back to TCP.
func (d *Display) Name() string { return displayName(d.number) }

// Authority is the path of the cookie file, the value of XAUTHORITY for a client. It stays until Close.
func (d *Display) Authority() string { return d.authority }

// Done is closed when Xvfb has ended and was waited for.
func (d *Display) Done() <-chan struct{} { return d.server.done }

// Close ends the window manager, the VNC server and Xvfb, in that order, each by SIGTERM and after 2 s by SIGKILL, and
// waits for all of them. End Chrome before: a Chrome whose screen goes away may lose a fresh cookie. Close may be
// called more than once.
func (d *Display) Close() {
	d.mu.Lock()
	first, vnc := !d.closed, d.vnc
	d.closed = true
	d.mu.Unlock()
	if d.wm != nil {
		d.wm.close()
	}
	if vnc != nil {
		vnc.Close()
	}
	if d.link != nil {
		d.link.close()
	}
	if d.server != nil {
		d.server.end()
	}
	if !first {
		return
	}
	if d.name != nil {
		d.name.release(d.server)
	}
	if d.authority != "" {
		os.Remove(d.authority)
	}
}

// cause turns the end of a context into an error that says what was waited for.
func cause(ctx context.Context, what string) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault.New(fault.Failed, "cannot %s: it took too long", what)
	}
	return fault.New(fault.Failed, "cannot %s: %w", what, context.Cause(ctx))
}
