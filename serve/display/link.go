package display

import (
	"io"
	"log"
	"sync"
	"time"

	"github.com/5dive/browser/internal/fault"
	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"
)

// link is one authorised X connection. Its goroutine reads events until the connection ends; done is closed then.
type link struct {
	x     *xgb.Conn
	setup *xproto.SetupInfo
	root  xproto.Window
	done  chan struct{}
	pulse pulse // beats at every event

	mu     sync.Mutex
	handle func(xgb.Event)                      // called in order, from the reading goroutine
	look   func(xproto.ClientMessageEvent) bool // likewise, until it returns true
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
		if event != nil {
			l.take(event)
		}
		l.pulse.beat()
	}
}

func (l *link) take(event xgb.Event) {
	l.mu.Lock()
	handle := l.handle
	if message, ok := event.(xproto.ClientMessageEvent); ok && l.look != nil && l.look(message) {
		l.look = nil
	}
	l.mu.Unlock()
	if handle != nil {
		handle(event)
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

// windowList reads a list of windows from a property of the root window.
func (l *link) windowList(property string, kind xproto.Atom) ([]xproto.Window, error) {
	atom, err := l.atom(property)
	if err != nil {
		return nil, err
	}
	reply, err := xproto.GetProperty(l.x, false, l.root, atom, kind, 0, 1024).Reply()
	if err != nil {
		return nil, fault.New(fault.Failed, "cannot read %s of the display: %w", property, err)
	}
	var list []xproto.Window
	for _, word := range words(reply.Value) {
		list = append(list, xproto.Window(word))
	}
	return list, nil
}

// watch has events of a window sent to us.
func (l *link) watch(w xproto.Window, mask uint32) error {
	err := xproto.ChangeWindowAttributesChecked(l.x, w, xproto.CwEventMask, []uint32{mask}).Check()
	if err != nil {
		return fault.New(fault.Failed, "cannot watch a window of the display: %w", err)
	}
	return nil
}

// hiddenWindow makes a window that is never shown.
func (l *link) hiddenWindow() (xproto.Window, error) {
	id, err := xproto.NewWindowId(l.x)
	if err == nil {
		err = xproto.CreateWindowChecked(l.x, 0, id, l.root, -1, -1, 1, 1, 0, xproto.WindowClassInputOnly, 0, 0, nil).Check()
	}
	if err != nil {
		return 0, fault.New(fault.Failed, "cannot make a window on the display: %w", err)
	}
	return id, nil
}
