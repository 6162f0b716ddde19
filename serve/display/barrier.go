package display

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// barrierWait bounds the wait for a client that answers late or never.
const barrierWait = 2 * time.Second

// pings numbers our pings. Openbox numbers its own from 1 and ignores what it does not know.
var pings atomic.Uint32

// awaitClient waits until the window that has the focus has taken all events so far: a client reads its events in order,
// and answers a ping of the window manager (EWMH, _NET_WM_PING) when it comes to it. It returns without one where nobody
// has the focus, or the client does not know pings.
func (l *link) awaitClient(limit time.Duration) {
	window, protocols, ping, ok := l.pingable()
	if !ok {
		return
	}
	id := 0xfd000000 | pings.Add(1)&0xffffff
	answered := make(chan struct{})
	l.expect(func(e xproto.ClientMessageEvent) bool {
		if e.Window != l.root || e.Type != protocols || e.Data.Data32[1] != id {
			return false
		}
		close(answered)
		return true
	})
	defer l.expect(nil)
	message := xproto.ClientMessageEvent{Format: 32, Window: window, Type: protocols,
		Data: xproto.ClientMessageDataUnionData32New([]uint32{uint32(ping), id, uint32(window), 0, 0})}
	if xproto.SendEventChecked(l.x, false, window, 0, string(message.Bytes())).Check() != nil {
		return
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-answered:
	case <-timer.C:
	case <-l.done:
	}
}

// pingable finds the active window, if its client answers pings.
func (l *link) pingable() (window xproto.Window, protocols, ping xproto.Atom, ok bool) {
	active, err := l.windowList("_NET_ACTIVE_WINDOW", xproto.AtomWindow)
	if err != nil || len(active) == 0 || active[0] == 0 {
		return 0, 0, 0, false
	}
	protocols, err = l.atom("WM_PROTOCOLS")
	if err != nil {
		return 0, 0, 0, false
	}
	if ping, err = l.atom("_NET_WM_PING"); err != nil {
		return 0, 0, 0, false
	}
	reply, err := xproto.GetProperty(l.x, false, active[0], protocols, xproto.AtomAtom, 0, 32).Reply()
	if err != nil {
		return 0, 0, 0, false
	}
	return active[0], protocols, ping, slices.Contains(words(reply.Value), uint32(ping))
}

// expect sets who looks at client messages; the answer to a ping comes to the root window.
func (l *link) expect(look func(xproto.ClientMessageEvent) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.look = look
}

// words reads 32-bit values.
func words(b []byte) []uint32 {
	var list []uint32
	for ; len(b) >= 4; b = b[4:] {
		list = append(list, xgb.Get32(b))
	}
	return list
}
