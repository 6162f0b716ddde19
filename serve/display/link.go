package display

import (
	"bytes"
	"encoding/binary"
	"io"
	"log"
	"net"
	"os"
	"sync"
	"time"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/peer"
	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"
)

const setupTimeout = 5 * time.Second

// link is one authorised X connection. Its goroutine reads events until the connection ends; done is closed then.
type link struct {
	x     *xgb.Conn
	setup *xproto.SetupInfo
	root  xproto.Window
	done  chan struct{}
	pulse pulse // beats at every event

	mu     sync.Mutex
	handle func(xgb.Event) // called in order, from the reading goroutine
}

// prepareXGB makes xgb usable for several connections: it logs to stderr by itself, and each extension that is set up
// writes the two global maps which the readers of all other connections read without a lock. Filled once, before the
// first connection, they are never written again (see extension).
var prepareXGB = sync.OnceFunc(func() {
	xgb.Logger = log.New(io.Discard, "", 0)
	for code := 64; code < 128; code++ {
		xgb.NewEventFuncs[code] = func([]byte) xgb.Event { return otherEvent{} }
	}
	for code := 128; code < 256; code++ {
		xgb.NewErrorFuncs[code] = func(b []byte) xgb.Error { return otherError{b} }
	}
})

type otherEvent struct{}

func (otherEvent) Bytes() []byte  { return nil }
func (otherEvent) String() string { return "event of an extension" }

type otherError struct{ b []byte }

func (e otherError) SequenceId() uint16 { return xgb.Get16(e.b[2:]) }
func (e otherError) BadId() uint32      { return xgb.Get32(e.b[4:]) }
func (e otherError) Error() string      { return "error of an extension" }

// openLink connects to display n with the cookie of authority. The server must be ours: its uid, and its pid unless
// pid is 0.
func openLink(n int, authority string, pid int) (*link, error) {
	prepareXGB()
	cookie, err := readCookie(authority)
	if err != nil {
		return nil, err
	}
	conn, err := dialServer(n, pid)
	if err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(setupTimeout))
	x, err := xgb.NewConnNet(&greeting{Conn: conn, setup: setupRequest(cookie)})
	if err != nil {
		conn.Close()
		return nil, fault.New(fault.Failed, "cannot open display %d: %w", n, err)
	}
	conn.SetDeadline(time.Time{})
	l := &link{x: x, setup: xproto.Setup(x), done: make(chan struct{})}
	l.root = l.setup.DefaultScreen(x).Root
	go l.read()
	if err := xtest.Init(x); err != nil { // no events and no errors of its own: writes no global map
		l.close()
		return nil, fault.New(fault.Failed, "cannot use XTEST on display %d: %w", n, err)
	}
	return l, nil
}

func (l *link) read() {
	defer close(l.done)
	for {
		event, failed := l.x.WaitForEvent()
		if event == nil && failed == nil {
			return
		}
		l.mu.Lock()
		handle := l.handle
		l.mu.Unlock()
		if event != nil && handle != nil {
			handle(event)
		}
		l.pulse.beat()
	}
}

// on sets the handler of events that come from now on.
func (l *link) on(handle func(xgb.Event)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.handle = handle
}

func (l *link) close() {
	l.x.Close()
	<-l.done
}

// extension makes the requests of an extension usable, without its events (see prepareXGB).
func (l *link) extension(name string) error {
	l.x.ExtLock.RLock()
	_, known := l.x.Extensions[name]
	l.x.ExtLock.RUnlock()
	if known {
		return nil
	}
	reply, err := xproto.QueryExtension(l.x, uint16(len(name)), name).Reply()
	if err != nil || !reply.Present {
		return fault.New(fault.Failed, "cannot use %s: the display does not have it", name)
	}
	l.x.ExtLock.Lock()
	l.x.Extensions[name] = reply.MajorOpcode
	l.x.ExtLock.Unlock()
	return nil
}

// atom is the number of a name.
func (l *link) atom(name string) (xproto.Atom, error) {
	reply, err := xproto.InternAtom(l.x, false, uint16(len(name)), name).Reply()
	if err != nil {
		return 0, fault.New(fault.Failed, "cannot name %s on the display: %w", name, err)
	}
	return reply.Atom, nil
}

// greeting puts our own setup request in the place of xgb's: xgb would look for a cookie in the environment of this
// process, and offer none where it finds none.
type greeting struct {
	net.Conn
	setup []byte
}

func (g *greeting) Write(p []byte) (int, error) {
	if g.setup == nil {
		return g.Conn.Write(p)
	}
	setup := g.setup
	g.setup = nil
	if _, err := g.Conn.Write(setup); err != nil {
		return 0, err
	}
	return len(p), nil
}

// setupRequest is the first message of a client (X protocol, chapter 8), little-endian, with or without a cookie.
func setupRequest(cookie []byte) []byte {
	name := ""
	if cookie != nil {
		name = cookieName
	}
	var b bytes.Buffer
	b.Write([]byte{'l', 0})
	for _, v := range []int{11, 0, len(name), len(cookie), 0} {
		binary.Write(&b, binary.LittleEndian, uint16(v))
	}
	b.WriteString(name)
	b.Write(make([]byte, -len(name)&3))
	b.Write(cookie)
	return b.Bytes()
}

// dialServer connects to the socket file of display n and asks the kernel who listens there.
func dialServer(n, pid int) (*net.UnixConn, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Net: "unix", Name: socketPath(n)})
	if err != nil {
		return nil, fault.New(fault.Failed, "cannot reach display %d: %w", n, err)
	}
	cred, err := peer.Of(conn)
	if err == nil && int(cred.UID) == os.Geteuid() && (pid == 0 || int(cred.PID) == pid) {
		return conn, nil
	}
	conn.Close()
	if err != nil {
		return nil, err
	}
	return nil, fault.New(fault.Denied, "cannot trust display %d: its socket belongs to uid %d, pid %d", n, cred.UID, cred.PID)
}

// probeRefused makes sure that the server refuses a caller without a cookie (status 0).
func probeRefused(n, pid int) error {
	conn, err := dialServer(n, pid)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(setupTimeout))
	status := make([]byte, 1)
	if _, err := conn.Write(setupRequest(nil)); err != nil {
		return fault.New(fault.Failed, "cannot probe display %d: %w", n, err)
	}
	if _, err := io.ReadFull(conn, status); err != nil {
		return fault.New(fault.Failed, "cannot probe display %d: %w", n, err)
	}
	if status[0] != 0 {
		return fault.New(fault.Denied, "cannot trust display %d: it lets in a caller without a cookie", n)
	}
	return nil
}

// pulse wakes everybody who waits for something to change.
type pulse struct {
	mu sync.Mutex
	ch chan struct{}
}

// next is closed at the next beat. Take it before looking, so that no beat is missed.
func (p *pulse) next() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ch == nil {
		p.ch = make(chan struct{})
	}
	return p.ch
}

func (p *pulse) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ch != nil {
		close(p.ch)
		p.ch = nil
	}
}
