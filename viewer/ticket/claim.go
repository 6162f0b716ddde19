package ticket

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"

	"github.com/5dive/browser/internal/secret"
)

// Claim spends the ticket with that id: the nonce must be its, the session the one it is bound to, the time not over, and
// alive must say that bridge and VNC server answer (it may start a dead one again; nil means that they do). The first
// caller for whom all of it holds wins and gets the ticket; everybody else gets a *Refusal and has changed nothing.
//
// alive is called under the lock of the profile, at most once a claim, after everything else was found right. It must end by
// itself within seconds and must not call the book.
func (b *Book) Claim(id string, nonce secret.Text, session string, alive func() error) (Ticket, error) {
	return b.claim(b.findID(id), nonce, session, alive, func(s *shelf, _ [sha256.Size]byte) *entry { return s.byID(id) })
}

// ClaimProfile is Claim for a caller who knows only the site: viewer-redeem.
func (b *Book) ClaimProfile(profile string, nonce secret.Text, session string, alive func() error) (Ticket, error) {
	return b.claim(b.find(profile), nonce, session, alive, (*shelf).byHash)
}

func (b *Book) claim(s *shelf, nonce secret.Text, session string, alive func() error, pick func(*shelf, [sha256.Size]byte) *entry) (Ticket, error) {
	hash, whole := nonceHash(nonce)
	bind := sha256.Sum256([]byte(session))
	if s == nil {
		return Ticket{}, refuse(ReasonUnknown, nil, false, nil)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := pick(s, hash)
	if e == nil {
		return Ticket{}, refuse(ReasonUnknown, nil, false, nil)
	}
	ours := whole & subtle.ConstantTimeCompare(hash[:], e.hash[:])
	bound := subtle.ConstantTimeCompare(bind[:], e.session[:])
	if why, cause := b.judge(e, ours == 1, bound == 1, alive); why != "" {
		return Ticket{}, refuse(why, e, ours&bound == 1, cause)
	}
	e.State, e.spent = InUse, true
	return e.Ticket, nil
}

// judge says why e may not be redeemed, or "". The order is that of docs/decisions (one claim): a ticket that ended is
// refused before anything about the caller counts, and only the last step touches the view.
func (b *Book) judge(e *entry, ours, bound bool, alive func() error) (Reason, error) {
	switch {
	case e.State == Void:
		return e.void, nil
	case e.spent:
		return ReasonSpent, nil
	case !ours:
		return ReasonNonce, nil
	case !bound:
		return ReasonSession, nil
	case e.State == Expired || e.late(b.now()):
		return ReasonExpired, nil
	case alive == nil:
		return "", nil
	}
	if err := alive(); err != nil {
		return ReasonDeadView, err
	}
	return "", nil
}

// Peek shows an open ticket to somebody who knows the SHA-256 of its nonce (64 characters of lower-case hex), and changes
// nothing. Every refusal reads the same.
func (b *Book) Peek(id, hash string) (Peek, error) {
	s := b.findID(id)
	if s == nil {
		return Peek{}, refuse(ReasonUnknown, nil, false, nil)
	}
	sum, whole := unhex(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.byID(id)
	if e == nil {
		return Peek{}, refuse(ReasonUnknown, nil, false, nil)
	}
	ours := whole&subtle.ConstantTimeCompare(sum[:], e.hash[:]) == 1
	now := b.now()
	if why, _ := b.judge(e, ours, true, nil); why != "" {
		return Peek{}, refuse(why, e, false, nil)
	}
	return Peek{Profile: e.Profile, Seat: e.Seat, Note: e.Note, Kind: e.Kind, Left: e.Left(now)}, nil
}

// nonceHash is the SHA-256 of a nonce; ok is 0 for anything but 64 characters of lower-case hex, which is hashed all the
// same up to that length, so that a malformed nonce costs what a wrong one does.
func nonceHash(nonce secret.Text) (hash [sha256.Size]byte, ok int) {
	text := nonce.Reveal()
	_, ok = unhex(text)
	if len(text) > 2*sha256.Size {
		text = text[:2*sha256.Size]
	}
	return sha256.Sum256([]byte(text)), ok
}

// unhex decodes 64 characters of lower-case hex; ok is 0 for anything else.
func unhex(text string) (sum [sha256.Size]byte, ok int) {
	if len(text) != 2*sha256.Size {
		return sum, 0
	}
	for _, c := range []byte(text) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return sum, 0
		}
	}
	if _, err := hex.Decode(sum[:], []byte(text)); err != nil {
		return sum, 0
	}
	return sum, 1
}
