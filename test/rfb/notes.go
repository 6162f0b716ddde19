package rfb

import (
	"context"
	"net"
	"slices"
)

// Messages is what clients have sent so far, handshakes not counted.
func (s *Source) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages)
}

// Opened is how many connections there were.
func (s *Source) Opened() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

// Open is how many connections there are now.
func (s *Source) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Sent is how many bytes of picture the kernel took.
func (s *Source) Sent() int64 { return s.sent.Load() }

// Wait waits until the source looks as asked; ok is false when ctx ends before.
func (s *Source) Wait(ctx context.Context, looks func(s *Source) bool) (ok bool) {
	for {
		changed := s.change(nil)
		if looks(s) {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// change does what changes the source and wakes those who wait for it; nil changes nothing and gives what to wait for.
func (s *Source) change(do func()) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	if do != nil {
		do()
		close(s.changed)
		s.changed = make(chan struct{})
	}
	return s.changed
}

func (s *Source) note(m Message) {
	s.change(func() { s.messages = append(s.messages, m) })
}

// keep notes that c is being served, or no more.
func (s *Source) keep(c net.Conn, open bool) {
	s.change(func() {
		if s.conns == nil {
			s.conns = map[net.Conn]bool{}
		}
		if open {
			s.conns[c] = true
			s.opened++
		} else {
			delete(s.conns, c)
		}
	})
}

// Close ends every connection and waits until none is served.
func (s *Source) Close() {
	s.mu.Lock()
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	s.serving.Wait()
}
