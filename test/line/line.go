// Package line is a TCP proxy in user space that plays a bad network between two ends of a test or a bench: a delay, a rate, a hole
// in which everything vanishes without a goodbye, and a drop. It passes bytes untouched, so Host and Origin stay what they were.
//
// It listens on 127.0.0.1 and connects where it was told. It owns its connections and goroutines; Close ends and waits for all. It
// trusts both ends. Sizes are bytes, rates bytes a second, times those of one direction.
package line

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// Shape is how the network is now. The zero value is a good one.
type Shape struct {
	Delay    time.Duration // of each byte, one way: a round trip takes twice as long
	ToClient int           // bytes a second towards the one who connected; 0 has no limit
	ToServer int           // the other way
	Hole     bool          // nothing passes, nobody is told, and new connections get no answer
}

// Line is a proxy under way. It is safe for concurrent use.
type Line struct {
	target   string
	listener net.Listener
	work     sync.WaitGroup

	mu      sync.Mutex // guards what follows
	shape   Shape
	changed chan struct{} // closed and replaced at each change
	open    map[*wire]struct{}
	opened  int
	closed  bool
}

// New listens on a free port and forwards to target, "127.0.0.1:PORT".
func New(target string) (*Line, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	l := &Line{target: target, listener: listener, changed: make(chan struct{}), open: map[*wire]struct{}{}}
	l.work.Go(l.accept)
	return l, nil
}

// Addr is where to connect.
func (l *Line) Addr() string { return l.listener.Addr().String() }

// Set changes the network, for open connections too.
func (l *Line) Set(s Shape) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shape = s
	l.change()
}

func (l *Line) change() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// now is the network as it is, and what is closed when that changes.
func (l *Line) now() (Shape, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shape, l.changed
}

// Drop cuts every open connection with a reset. New ones are taken.
func (l *Line) Drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for w := range l.open {
		w.reset()
	}
}

// Open is how many connections there are now: one that an end has closed counts until the other end has been told.
func (l *Line) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

// Opened is how many connections there have been.
func (l *Line) Opened() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.opened
}

// Wait waits until n connections are open.
func (l *Line) Wait(ctx context.Context, n int) error {
	for {
		_, changed := l.now()
		open := l.Open()
		if open == n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%d connections are open, want %d: %w", open, n, context.Cause(ctx))
		}
	}
}

// Close ends the line and every connection, and waits.
func (l *Line) Close() {
	l.mu.Lock()
	l.closed = true
	for w := range l.open {
		w.reset()
	}
	l.mu.Unlock()
	l.listener.Close()
	l.work.Wait()
}

func (l *Line) accept() {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.work.Go(func() { l.carry(client.(*net.TCPConn)) })
	}
}

// carry serves one connection until both ends have ended. The far end is asked for once the network lets that through.
func (l *Line) carry(client *net.TCPConn) {
	w := &wire{line: l, client: client, gone: make(chan struct{})}
	if !l.keep(w) {
		client.Close()
		return
	}
	defer l.drop(w)
	if !w.connect() {
		w.reset()
		return
	}
	var both sync.WaitGroup
	both.Go(func() { w.pass(w.client, w.server, func(s Shape) int { return s.ToServer }) })
	both.Go(func() { w.pass(w.server, w.client, func(s Shape) int { return s.ToClient }) })
	both.Wait()
	w.client.Close()
	w.server.Close()
}

func (l *Line) keep(w *wire) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.open[w] = struct{}{}
	l.opened++
	l.change()
	return true
}

func (l *Line) drop(w *wire) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, w)
	l.change()
}
