package display

import (
	"context"
	"net"
	"os"
	"sync"

	"github.com/5dive/browser/internal/fault"
	"golang.org/x/sys/unix"
)

// x11vncAtOnce bounds the servers of one socket: the one that ends and the one that begins, and a caller's mistake.
const x11vncAtOnce = 4

// inetd listens on a socket and gives each connection to an x11vnc of its own, as its stdin and stdout.
type inetd struct {
	display  *Display
	path     string
	listener *net.UnixListener
	slots    chan struct{}
	serving  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	live   map[*child]bool
}

// startX11VNC listens for a display. x11vnc itself never gets a listener: it opens a TCP port even with -rfbport 0, and
// its own Unix socket is mode 0755.
func (d *Display) startX11VNC(_ context.Context, path, socket string) (*VNC, error) {
	l, err := listenPrivate(socket)
	if err != nil {
		return nil, err
	}
	i := &inetd{display: d, path: path, listener: l, slots: make(chan struct{}, x11vncAtOnce), live: map[*child]bool{}}
	v := &VNC{socket: socket, done: make(chan struct{}), stop: i.close}
	go func() {
		defer close(v.done)
		i.accept()
		i.serving.Wait()
	}()
	go func() {
		select {
		case <-d.server.done:
			i.close()
		case <-v.done:
		}
	}()
	return v, nil
}

// listenPrivate makes a listening socket of mode 0600. The directory is 0700 already; the mode is set before listen, so
// that the socket is never more open than it ends.
func listenPrivate(path string) (*net.UnixListener, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fault.New(fault.Failed, "cannot listen for a viewer: %w", err)
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	if err = unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err == nil {
		if err = unix.Chmod(path, 0o600); err == nil {
			err = unix.Listen(fd, 64)
		}
	}
	if err != nil {
		return nil, fault.New(fault.Failed, "cannot listen for a viewer: %w", err)
	}
	l, err := net.FileListener(f)
	if err != nil {
		return nil, fault.New(fault.Failed, "cannot listen for a viewer: %w", err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(true)
	return l.(*net.UnixListener), nil
}

// accept waits for a free slot first: a connection that finds none waits in the socket's queue, it is not refused.
func (i *inetd) accept() {
	for {
		i.slots <- struct{}{}
		conn, err := i.listener.AcceptUnix()
		if err != nil {
			return
		}
		i.serving.Go(func() {
			defer func() { <-i.slots }()
			i.serve(conn)
		})
	}
}

// serve runs one x11vnc. Our own copy of the connection stays open to see the peer close: x11vnc notices that too, but
// one that hangs or was stopped is ended all the same.
func (i *inetd) serve(conn *net.UnixConn) {
	f, err := conn.File()
	conn.Close()
	if err != nil {
		return
	}
	defer f.Close()
	c, err := i.spawn(f)
	if err != nil {
		return
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		awaitHangup(int(f.Fd()))
	}()
	select {
	case <-gone:
		c.end()
	case <-c.done:
		unix.Shutdown(int(f.Fd()), unix.SHUT_RDWR) // the peer sees the end, and so does awaitHangup
		<-gone
	}
	i.mu.Lock()
	delete(i.live, c)
	i.mu.Unlock()
}

// awaitHangup returns when the other end of a connection has closed, without reading from it.
func awaitHangup(fd int) {
	set := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	for {
		if n, err := unix.Poll(set, -1); n > 0 || err != nil && err != unix.EINTR {
			return
		}
	}
}

func (i *inetd) spawn(f *os.File) (*child, error) {
	d := i.display
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return nil, net.ErrClosed
	}
	c, err := spawn(spec{path: i.path, args: d.x11vncArgs(), dir: d.config.Scratch, io: f, follow: true,
		// Without this it makes its windows only some time after a client came, and the view stands still meanwhile.
		env: d.clientEnvironment("X11VNC_AVOID_WINDOWS=never")})
	if err == nil {
		i.live[c] = true
	}
	return c, err
}

// x11vncArgs: no -localhost, it takes the Unix peer for a stranger; -o, or its stderr goes into the stream; -norc, or
// the seat's own ~/.x11vncrc may open a port; -noremote and -safer, or any X client steers it.
func (d *Display) x11vncArgs() []string {
	args := []string{"x11vnc", "-inetd", "-nopw", "-norc", "-once", "-noremote", "-safer", "-nocmds", "-nevershared",
		"-dontdisconnect", "-nobell", "-nosel", "-noclipboard", "-nosetclipboard", "-noprimary", "-nosetprimary",
		"-input", "MB", "-skip_lockkeys", "-xrandr", "newfbsize", "-nodpms", "-desktop", "browser", "-nolookup", "-o", "/dev/null"}
	if !d.config.SharedMemory {
		args = append(args, "-noshm")
	}
	return args
}

// close ends the listener and every server.
func (i *inetd) close() {
	i.mu.Lock()
	i.closed = true
	live := make([]*child, 0, len(i.live))
	for c := range i.live {
		live = append(live, c)
	}
	i.mu.Unlock()
	i.listener.Close()
	var wait sync.WaitGroup
	for _, c := range live {
		wait.Go(c.end)
	}
	wait.Wait()
}
