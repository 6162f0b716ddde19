package ticket

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/5dive/browser/internal/clock"
	"github.com/5dive/browser/internal/fault"
)

// Check refuses a request that must not become a ticket, with fault.Usage. Mint asks it too; ask it before anything is started for a link.
func (r Request) Check() error {
	switch {
	case r.Profile == "" || r.Seat == "":
		return fault.New(fault.Usage, "cannot mint a link: no profile or seat is named")
	case r.Bind == "":
		return fault.New(fault.Usage, "cannot mint a link for %s: it must be bound to a session", r.Profile).
			Try("5dive browser viewer %s --bind=local", r.Profile)
	case !line(r.Bind, MaxBind):
		return fault.New(fault.Usage, "cannot mint a link for %s: the session is not one line of at most %d bytes", r.Profile, MaxBind)
	case !line(r.Note, MaxNote):
		return fault.New(fault.Usage, "cannot mint a link for %s: the note is not one line of at most %d bytes", r.Profile, MaxNote)
	case r.TTL != 0 && (r.TTL < MinTTL || r.TTL > MaxTTL):
		return fault.New(fault.Usage, "cannot mint a link for %s: its life must be 30 to 3600 seconds", r.Profile)
	case r.Kind != "" && r.Kind != Control && r.Kind != Watch:
		return fault.New(fault.Usage, "cannot mint a link for %s: unknown kind of view", r.Profile)
	}
	return nil
}

// defaults fills in what the request left out.
func (r Request) defaults(now clock.Instant) Request {
	if r.Start == (clock.Instant{}) {
		r.Start = now
	}
	if r.TTL == 0 {
		r.TTL = TTL
	}
	if r.Kind == "" {
		r.Kind = Control
	}
	return r
}

// line tells whether s is UTF-8 without control or text-direction characters, of at most limit bytes: a note must not
// fake another line on the page or in a terminal.
func line(s string, limit int) bool {
	return len(s) <= limit && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
	})
}
