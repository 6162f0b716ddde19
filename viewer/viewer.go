// Package viewer owns the views of one seat service: a view is one person looking at one profile's browser through one
// one-time link. It joins what others own (ticket, bridge, VNC server, X input) into one life:
//
//	waiting --enter--> open --Done--> saving --> ended
//	   `-- expired, revoked, replaced, cancelled, idle, gone, limit, stopped ------^
//
// Two instants are fixed before the first process of a view starts (package ticket). A view that was entered ends by Done, Cancel,
// revoke, 10 minutes without input, 2 minutes without a client, or the hard end. Times are judged on the boot clock by Tick.
//
// It trusts its caller to have checked who may mint, and nobody else: whoever enters shows a nonce and a session, whoever comes back
// a token or the password of that view. Nothing of what a person types is kept or told to the journal.
package viewer

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/5dive/browser/internal/clock"
	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/secret"
	"github.com/5dive/browser/viewer/ticket"
)

// Limits of an entered view.
const (
	IdleEnd   = 10 * time.Minute // without input
	AloneEnd  = 2 * time.Minute  // without a client
	passwords = 8                // characters that VNC's DES challenge looks at
)

// Phases of a view.
const (
	Waiting = "waiting" // its link is out
	Open    = "open"    // entered
	Saving  = "saving"  // Done was pressed: Chrome is being ended
	Ended   = "ended"
)

// How a view ended.
const (
	EndDone      = "done"
	EndCancelled = "cancelled"
	EndRevoked   = "revoked"
	EndExpired   = "expired"  // nobody pressed the link in time
	EndReplaced  = "replaced" // a newer link was minted
	EndIdle      = "idle"
	EndAlone     = "gone"  // no client for 2 minutes
	EndLimit     = "limit" // the hard end
	EndStopped   = "stopped"
)

// Screen is the browser that a view shows. Package serve fulfils it with one open profile.
type Screen interface {
	// VNC gives the address of a VNC server without a password that only this uid can reach. It starts one if none answers,
	// within seconds, and tells which kind runs.
	VNC(ctx context.Context) (socket, server string, err error)
	// EndVNC ends the VNC server.
	EndVNC()
	// Input gives the keyboard of the display. The view closes it.
	Input() (Input, error)
}

// Input is the keyboard and the size of a display.
type Input interface {
	Key(keysym uint32, down bool) error
	ReleaseKeys() error
	Text(ctx context.Context, text secret.Text, typed bool) (way string, err error)
	Resize(width, height int) (gotWidth, gotHeight int, err error)
	Close()
}

// Config is what the views of a seat need. Note writes one event of the journal; its fields hold no secret.
type Config struct {
	Seat  string
	Clock clock.Clock
	Note  func(name, site string, fields map[string]string)
}

// Views are the views of one seat. They are safe for concurrent use.
type Views struct {
	config Config
	book   *ticket.Book
	mu     sync.Mutex // guards byID
	byID   map[string]*View
}

// New makes an empty set.
func New(c Config) *Views {
	return &Views{config: c, book: ticket.New(c.Clock), byID: map[string]*View{}}
}

// Request asks for a link.
type Request struct {
	Site string
	Bind string
	Note string
	TTL  time.Duration
}

// Check refuses, with fault.Usage, a request that can become no link: to be asked before a browser is started for it.
func (v *Views) Check(r Request) error { return v.ticket(r).Check() }

func (v *Views) ticket(r Request) ticket.Request {
	return ticket.Request{Profile: r.Site, Seat: v.config.Seat, Bind: r.Bind, Note: r.Note, TTL: r.TTL}
}

// Mint makes a view and its one-time link, once the VNC server answers. The nonce leaves here and is not kept.
func (v *Views) Mint(ctx context.Context, r Request, screen Screen) (*View, secret.Text, error) {
	start := v.config.Clock() // both instants count from here, before the first process of the view
	if t, ok := v.book.Current(r.Site); ok && t.State == ticket.InUse {
		return nil, secret.Text{}, fault.New(fault.Busy, "cannot mint a link for %s: a person is at its viewer", r.Site).
			Try("5dive browser viewer-revoke %s", r.Site)
	}
	_, server, err := screen.VNC(ctx)
	if err != nil {
		return nil, secret.Text{}, err
	}
	asked := v.ticket(r)
	asked.Start = start
	minted, err := v.book.Mint(asked)
	if err != nil {
		if v.of(r.Site) == nil {
			screen.EndVNC()
		}
		return nil, secret.Text{}, err
	}
	v.replace(r.Site)
	view := newView(v, minted.Ticket, screen, server)
	v.mu.Lock()
	v.byID[view.ID] = view
	v.mu.Unlock()
	v.config.Note("viewer_minted", r.Site, map[string]string{"view": view.ID, "server": server})
	v.config.Note("viewer_bind", r.Site, map[string]string{"view": view.ID, "session": r.Bind})
	return view, minted.Nonce, nil
}

// replace ends the view whose link a newer one voided; the VNC server stays, it is the newer one's now.
func (v *Views) replace(site string) {
	if old := v.of(site); old != nil {
		old.finish(EndReplaced, false)
	}
}

// of is the living view of a site, or nil.
func (v *Views) of(site string) *View {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, view := range v.byID {
		if view.Site == site && view.Phase() != Ended {
			return view
		}
	}
	return nil
}

// Of is the living view of a site.
func (v *Views) Of(site string) (*View, bool) { view := v.of(site); return view, view != nil }

// ByID finds a view, also one that has ended a short while ago.
func (v *Views) ByID(id string) (*View, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	view, ok := v.byID[id]
	return view, ok
}

// Peek shows what a link is for, to one who knows the SHA-256 of its nonce. It changes nothing.
func (v *Views) Peek(id, hash string) (ticket.Peek, string, error) {
	p, err := v.book.Peek(id, hash)
	if err != nil {
		return p, "", err
	}
	view, ok := v.ByID(id)
	if !ok {
		return p, "", fault.New(fault.Failed, "cannot show the link: its view is gone")
	}
	return p, view.Server, nil
}

// Enter spends a link for the page of our own relay and gives the token to come back with.
func (v *Views) Enter(ctx context.Context, id string, nonce secret.Text, session string) (*View, secret.Text, error) {
	view, _ := v.ByID(id)
	_, err := v.book.Claim(id, nonce, session, func() error { return view.alive(ctx) })
	if err != nil {
		v.denied(err)
		return nil, secret.Text{}, err
	}
	return view, view.open(), nil
}

// Redeem spends a link for an outside relay that knows only the site, and gives the password of the view.
func (v *Views) Redeem(ctx context.Context, site string, nonce secret.Text, session string) (*View, secret.Text, error) {
	view := v.of(site)
	t, err := v.book.ClaimProfile(site, nonce, session, func() error { return view.alive(ctx) })
	if err != nil {
		v.denied(err)
		return nil, secret.Text{}, err
	}
	view, _ = v.ByID(t.ID)
	view.open()
	return view, view.password, nil
}

// denied tells the journal why, with neither nonce nor hash.
func (v *Views) denied(err error) {
	fields := map[string]string{"reason": string(ticket.Why(err))}
	site := ""
	if r, ok := asRefusal(err); ok {
		site = r.Profile
		if r.ID != "" {
			fields["view"] = r.ID
		}
	}
	v.config.Note("viewer_denied", site, fields)
}

// Revoke ends a site's view and keeps the login; ok is false if there was none.
func (v *Views) Revoke(site string) (ok bool) { return v.end(site, EndRevoked, "viewer_revoked") }

// Stopped ends a site's view because its browser ends. A view that Done is saving waits for its verdict instead.
func (v *Views) Stopped(site string) {
	if view := v.of(site); view == nil || view.Phase() != Saving {
		v.end(site, EndStopped, "")
	}
}

func (v *Views) end(site, how, event string) bool {
	view := v.of(site)
	v.book.Void(site)
	if view == nil {
		return false
	}
	view.finish(how, true)
	if event != "" {
		v.config.Note(event, site, map[string]string{"view": view.ID})
	}
	return true
}

// Living counts the views that have not ended.
func (v *Views) Living() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := 0
	for _, view := range v.byID {
		if view.Phase() != Ended {
			n++
		}
	}
	return n
}

// Tick ends what is over. Call it every second: the boot clock runs through suspend, timers do not.
func (v *Views) Tick() {
	now := v.config.Clock()
	unredeemed, over := v.book.Expire(now)
	for _, t := range unredeemed {
		v.expire(t.ID, EndExpired)
	}
	for _, t := range over {
		v.expire(t.ID, EndLimit)
	}
	for _, view := range v.all() {
		if how := view.due(now); how != "" {
			v.expire(view.ID, how)
		}
	}
	v.forget(now)
}

func (v *Views) expire(id, how string) {
	if view, ok := v.ByID(id); ok && view.finish(how, true) {
		v.config.Note("viewer_expired", view.Site, map[string]string{"view": id, "why": how})
	}
}

// forget drops views that ended an hour ago; until then a page may still ask how they ended.
func (v *Views) forget(now clock.Instant) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, view := range v.byID {
		if at, ended := view.endedAt(); ended && now.Boot-at > time.Hour {
			delete(v.byID, id)
		}
	}
}

func (v *Views) all() []*View {
	v.mu.Lock()
	defer v.mu.Unlock()
	all := make([]*View, 0, len(v.byID))
	for _, view := range v.byID {
		all = append(all, view)
	}
	return all
}

func dialUnix(ctx context.Context, path string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "unix", path)
}
