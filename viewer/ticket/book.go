package ticket

import (
	"crypto/sha256"
	"maps"
	"slices"
	"sync"

	"github.com/5dive/browser/internal/clock"
	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/secret"
)

// keep is how many tickets stay known per profile after their end, so that the one who held a link is told what became of it.
const keep = 8

// Book holds the tickets of one seat service. It is safe for concurrent use. Calls about one profile wait for each other,
// also while a claim asks whether the view is alive; calls about different profiles do not.
type Book struct {
	now     clock.Clock
	mu      sync.Mutex // guards the two maps, held only for look-ups
	shelves map[string]*shelf
	ids     map[string]*shelf
}

// New makes an empty book on a clock.
func New(now clock.Clock) *Book {
	return &Book{now: now, shelves: map[string]*shelf{}, ids: map[string]*shelf{}}
}

// Mint makes a ticket and voids the older one of the same profile. While that profile's view is in use it is refused with
// fault.Busy; a bad request is fault.Usage. Call it only when bridge and VNC server both answer.
func (b *Book) Mint(r Request) (Minted, error) {
	if err := r.Check(); err != nil {
		return Minted{}, err
	}
	s := b.shelf(r.Profile)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := b.now()
	if e := s.live(); e != nil && e.State == InUse {
		return Minted{}, fault.New(fault.Busy, "cannot mint a link for %s: a person is at its viewer", r.Profile).
			Try("5dive browser viewer-revoke %s", r.Profile)
	}
	e, nonce := r.defaults(now).entry()
	if e.late(now) {
		return Minted{}, fault.New(fault.Failed, "cannot mint a link for %s: its view took longer to start than the link would live", r.Profile)
	}
	s.end(ReasonReplaced)
	b.add(s, e)
	return Minted{Ticket: e.Ticket, Nonce: nonce}, nil
}

// entry makes the ticket that r asks for.
func (r Request) entry() (*entry, secret.Text) {
	nonce := secret.Random(32)
	return &entry{
		Ticket: Ticket{
			ID: secret.Random(16).Reveal(), Profile: r.Profile, Seat: r.Seat, Bind: r.Bind, Note: r.Note, Kind: r.Kind,
			State: Open, Start: r.Start, RedeemBy: r.Start.Boot + r.TTL, HardEnd: r.Start.Boot + HardEnd,
		},
		hash:    sha256.Sum256([]byte(nonce.Reveal())),
		session: sha256.Sum256([]byte(r.Bind)),
	}, nonce
}

// Void ends the profile's ticket, open or in use, as a revoke does. It gives that ticket; ok is false if there was none.
func (b *Book) Void(profile string) (t Ticket, ok bool) {
	s := b.find(profile)
	if s == nil {
		return Ticket{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end(ReasonRevoked)
}

// End tells the book that the view of a spent ticket is gone (Done, Cancel, idle, no client), so that a new link may be
// minted. A ticket that is not in use stays as it is.
func (b *Book) End(id string) {
	s := b.findID(id)
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.byID(id); e != nil && e.State == InUse {
		e.State = Used
	}
}

// Current is the profile's ticket that is open or in use; ok is false if there is none.
func (b *Book) Current(profile string) (t Ticket, ok bool) {
	s := b.find(profile)
	if s == nil {
		return Ticket{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.live(); e != nil {
		return e.Ticket, true
	}
	return Ticket{}, false
}

// Expire ends every ticket whose time is over and gives each exactly once: those that nobody redeemed, and those whose
// view reached its hard end. A profile in the middle of a claim is passed over; the next call sees it. Call it every
// second or so: the boot clock runs through suspend, timers do not.
func (b *Book) Expire(now clock.Instant) (unredeemed, ended []Ticket) {
	for _, s := range b.all() {
		if !s.mu.TryLock() {
			continue
		}
		if e := s.live(); e != nil && e.over(now) {
			e.State = Expired
			if e.spent {
				ended = append(ended, e.Ticket)
			} else {
				unredeemed = append(unredeemed, e.Ticket)
			}
		}
		s.mu.Unlock()
	}
	return unredeemed, ended
}

// add puts e on its shelf, which the caller holds, and forgets the oldest that ended.
func (b *Book) add(s *shelf, e *entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ids[e.ID] = s
	s.entries = append(s.entries, e)
	for len(s.entries) > keep+1 {
		delete(b.ids, s.entries[0].ID)
		s.entries = s.entries[1:]
	}
}

// shelf is the profile's shelf, made if need be.
func (b *Book) shelf(profile string) *shelf {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.shelves[profile]
	if s == nil {
		s = &shelf{}
		b.shelves[profile] = s
	}
	return s
}

// find is the profile's shelf, or nil.
func (b *Book) find(profile string) *shelf {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shelves[profile]
}

// findID is the shelf that holds the ticket, or nil.
func (b *Book) findID(id string) *shelf {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ids[id]
}

func (b *Book) all() []*shelf {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Values(b.shelves))
}
