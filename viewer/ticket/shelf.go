package ticket

import (
	"crypto/sha256"
	"slices"
	"sync"
	"time"

	"github.com/5dive/browser/internal/clock"
)

// shelf holds the tickets of one profile, newest last. At most one of them is open or in use.
type shelf struct {
	mu      sync.Mutex
	entries []*entry
}

// entry is a ticket with what only the book may see.
type entry struct {
	Ticket
	hash    [sha256.Size]byte // of the nonce
	session [sha256.Size]byte // of Bind, so that sessions are compared at one length
	spent   bool              // redeemed once, whatever became of its view
	void    Reason            // why, when State is Void
}

// live is the entry that is open or in use, or nil.
func (s *shelf) live() *entry {
	for _, e := range s.entries {
		if e.State == Open || e.State == InUse {
			return e
		}
	}
	return nil
}

// byID is the entry with that id, or nil.
func (s *shelf) byID(id string) *entry {
	i := slices.IndexFunc(s.entries, func(e *entry) bool { return e.ID == id })
	if i < 0 {
		return nil
	}
	return s.entries[i]
}

// byHash is the entry whose nonce has that hash, else the newest, else nil.
func (s *shelf) byHash(hash [sha256.Size]byte) *entry {
	var found *entry
	for _, e := range s.entries {
		found = e
		if e.hash == hash {
			break
		}
	}
	return found
}

// end voids the live entry and gives it.
func (s *shelf) end(why Reason) (Ticket, bool) {
	e := s.live()
	if e == nil {
		return Ticket{}, false
	}
	e.State, e.void = Void, why
	return e.Ticket, true
}

// late tells whether the ticket may no longer be redeemed, by the rule of docs/decisions: an age below zero or
// over the TTL, or a wall clock that tells another story than the boot clock (a VM restored from a snapshot).
func (e *entry) late(now clock.Instant) bool {
	ttl := e.RedeemBy - e.Start.Boot
	age := now.Boot - e.Start.Boot
	wall := now.Wall.Sub(e.Start.Wall).Abs()
	slack := ttl + 5*time.Second
	return age < 0 || age > ttl || wall > slack || clock.Skew(e.Start, now) > slack
}

// over tells whether the ticket's view must end now.
func (e *entry) over(now clock.Instant) bool {
	switch e.State {
	case Open:
		return e.late(now)
	case InUse:
		return now.Boot < e.Start.Boot || now.Boot > e.HardEnd
	}
	return false
}
