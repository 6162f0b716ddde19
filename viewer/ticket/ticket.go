// Package ticket owns the one-time links of a seat service: it mints, shows, spends and voids them, all in memory. A view
// cannot outlive its service, so neither does its ticket.
//
// It keeps a nonce as its SHA-256 only. It refuses everything that is not the right nonce, from the right session, in
// time, for a view that is alive, for the first time; the check and the spending are one step under one lock. Every
// refusal reads the same, except to a caller who shows the right nonce and session; the journal gets a typed Reason.
//
// Durations are clock time on CLOCK_BOOTTIME, which runs through suspend; the wall clock checks it. Errors are
// fault.Usage (wrong request), fault.Busy (a view in use), fault.Failed (every refused redemption). It trusts the caller to
// say who is asking: a session is whatever the relay vouches for.
//
// Coming back into a view that was redeemed is no business of a ticket: the view keeps a token or password for that.
package ticket

import (
	"time"

	"github.com/5dive/browser/internal/clock"
	"github.com/5dive/browser/internal/secret"
)

// Limits of a ticket's life (docs/ARCHITECTURE.md, the two instants).
const (
	TTL     = 600 * time.Second  // redeem within, unless the request says otherwise
	MinTTL  = 30 * time.Second   // shortest that may be asked for
	MaxTTL  = 3600 * time.Second // longest that may be asked for
	HardEnd = 60 * time.Minute   // a view ends then, redeemed or not
)

// Limits of a request's texts, in bytes. The note is shown to the person before the click.
const (
	MaxBind = 256
	MaxNote = 500
)

// Kind is what the view allows.
type Kind string

// The kinds. The zero Kind of a Request means Control.
const (
	Control Kind = "control" // keys and pointer
	Watch   Kind = "watch"   // the picture alone
)

// State is where a ticket is in its life. Only Open leads anywhere else than to an end.
type State string

// The states.
const (
	Open    State = "open"    // waits for its one redeemer
	InUse   State = "in_use"  // spent; its view is up
	Used    State = "used"    // spent; its view ended
	Expired State = "expired" // nobody came in time, or the view reached its hard end
	Void    State = "void"    // revoked, or replaced by a newer one
)

// Request asks for a ticket.
type Request struct {
	Profile string        // id of the profile; one ticket per profile is good at a time
	Seat    string        // name of the seat
	Bind    string        // the one session that may redeem; mandatory
	Note    string        // what for, one line
	TTL     time.Duration // whole life until redeemed; 0 is 600 s
	Kind    Kind          // "" is Control
	// Start was read before the first process of the view was started, so that the ticket never advertises more life than
	// the server has. The zero value is the moment of Mint.
	Start clock.Instant
}

// Ticket is one minted ticket as its owner sees it.
type Ticket struct {
	ID       string // public: 16 random bytes in hex, part of the link
	Profile  string
	Seat     string
	Bind     string
	Note     string
	Kind     Kind
	State    State
	Start    clock.Instant // both ends count from here
	RedeemBy time.Duration // CLOCK_BOOTTIME of the last moment to redeem
	HardEnd  time.Duration // CLOCK_BOOTTIME of the view's end
}

// Left is the time until the ticket is void if nobody redeems it, or until the view's hard end if somebody did; never negative.
func (t Ticket) Left(now clock.Instant) time.Duration {
	end := t.RedeemBy
	if t.State == InUse {
		end = t.HardEnd
	}
	return max(0, end-now.Boot)
}

// Minted is the answer of Mint. The nonce exists here and nowhere else.
type Minted struct {
	Ticket
	Nonce secret.Text // 32 random bytes, 64 characters of lower-case hex
}

// Peek is what may be shown to somebody who knows the nonce's hash, before the click.
type Peek struct {
	Profile, Seat, Note string
	Kind                Kind
	Left                time.Duration
}
