package ticket

import (
	"errors"

	"github.com/5dive/browser/internal/fault"
)

// Reason is why a redemption was refused, or a ticket voided: for the journal, never for the caller.
type Reason string

// The reasons. None of them is secret.
const (
	ReasonUnknown  Reason = "unknown"   // no such ticket or profile
	ReasonSpent    Reason = "spent"     // redeemed before
	ReasonReplaced Reason = "replaced"  // voided by a newer ticket of the profile
	ReasonRevoked  Reason = "revoked"   // voided by viewer-revoke
	ReasonNonce    Reason = "nonce"     // wrong or malformed nonce
	ReasonSession  Reason = "session"   // right nonce, wrong session
	ReasonExpired  Reason = "expired"   // too late, or the clocks disagree
	ReasonDeadView Reason = "dead_view" // bridge or VNC server does not answer; the ticket stays good
)

// refused is the one text of a refusal. It must not depend on anything but who showed nonce and session.
const refused = "cannot redeem the link: it was used, has expired, or is not for this session"

// said is what the one who showed the right nonce and session is told.
var said = map[Reason]string{
	ReasonSpent:    "cannot redeem the link: it was pressed before",
	ReasonReplaced: "cannot redeem the link: a newer one took its place",
	ReasonRevoked:  "cannot redeem the link: it was revoked",
	ReasonExpired:  "cannot redeem the link: it has expired",
	ReasonDeadView: "cannot redeem the link: the browser's screen does not answer; the link stays good, press again",
}

// Refusal is a refused redemption. Its text and kind are those of the fault.Error inside, which is all that may leave the
// service; Reason, ID and Profile are for the journal.
type Refusal struct {
	Reason  Reason
	ID      string // of the ticket that was meant, if there is one
	Profile string // of that ticket
	Cause   error  // what the view's check answered, for ReasonDeadView
	err     *fault.Error
}

func (r *Refusal) Error() string { return r.err.Error() }
func (r *Refusal) Unwrap() error { return r.err }

// Why is the reason in err's chain, or "" if no redemption was refused.
func Why(err error) Reason {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Reason
	}
	return ""
}

// refuse makes the refusal; holder tells whether the caller showed the right nonce and session of e, which may be nil.
func refuse(why Reason, e *entry, holder bool, cause error) *Refusal {
	text := refused
	if own := said[why]; holder && own != "" {
		text = own
	}
	r := &Refusal{Reason: why, Cause: cause, err: &fault.Error{Kind: fault.Failed, What: text}}
	if e != nil {
		r.ID, r.Profile = e.ID, e.Profile
	}
	return r
}
