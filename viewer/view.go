package viewer

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/5dive/browser/internal/clock"
	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/secret"
	"github.com/5dive/browser/viewer/ticket"
)

// View is one person's look at one profile. Its fields never change.
type View struct {
	ID     string
	Site   string
	Server string // tigervnc or x11vnc
	views  *Views
	ticket ticket.Ticket
	screen Screen

	password secret.Text // for an outside relay, of this view alone
	ended    chan struct{}

	mu     sync.Mutex // guards what follows
	phase  string
	how    string // how it ended
	state  string // the verdict that Done showed
	token  [sha256.Size]byte
	input  Input
	client *client
	touch  time.Duration // boot clock of the last input
	seen   time.Duration // boot clock of the last moment with a client
	over   time.Duration // boot clock of the end
}

func newView(v *Views, t ticket.Ticket, screen Screen, server string) *View {
	return &View{ID: t.ID, Site: t.Profile, Server: server, views: v, ticket: t, screen: screen,
		password: newPassword(), ended: make(chan struct{}), phase: Waiting}
}

// newPassword has 8 characters of 62: VNC looks at no more, and a wrong one ends the connection after three tries.
func newPassword() secret.Text {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	out := make([]byte, 0, passwords)
	for b := make([]byte, 1); len(out) < passwords; {
		rand.Read(b)
		if n := int(b[0]); n < 4*len(letters) { // no letter is likelier than another
			out = append(out, letters[n%len(letters)])
		}
	}
	return secret.New(string(out))
}

// alive makes sure that a VNC server answers; a dead one is started again, so that the link stays good.
func (w *View) alive(ctx context.Context) error {
	if w == nil || w.Phase() == Ended {
		return fault.New(fault.Failed, "the view is gone")
	}
	_, _, err := w.screen.VNC(ctx)
	return err
}

// open enters the view and gives a fresh token.
func (w *View) open() secret.Text {
	token := secret.Random(32)
	now := w.views.config.Clock().Boot
	w.mu.Lock()
	if w.phase == Waiting {
		w.phase = Open
	}
	w.token = sha256.Sum256([]byte(token.Reveal()))
	w.touch, w.seen = now, now
	w.mu.Unlock()
	w.views.config.Note("viewer_redeemed", w.Site, map[string]string{"view": w.ID})
	return token
}

// Holds tells whether token is the one that Enter gave.
func (w *View) Holds(token secret.Text) bool {
	sum := sha256.Sum256([]byte(token.Reveal()))
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.phase != Waiting && !token.Empty() && subtle.ConstantTimeCompare(sum[:], w.token[:]) == 1
}

// ByToken finds the view that a token is for, ended ones of the last hour included.
func (v *Views) ByToken(token secret.Text) (*View, error) {
	for _, view := range v.all() {
		if view.Holds(token) {
			return view, nil
		}
	}
	return nil, fault.New(fault.Denied, "cannot use the view: it is not open for this caller")
}

// Phase is where the view stands.
func (w *View) Phase() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.phase
}

// End tells how the view ended and which verdict Done showed; empty while it lives.
func (w *View) End() (how, state string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.how, w.state
}

// Wait waits for the end.
func (w *View) Wait(ctx context.Context) error {
	select {
	case <-w.ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Left tells the time until the redeem-by instant, the hard end and the idle end.
func (w *View) Left() (redeem, hard, idle time.Duration) {
	now := w.views.config.Clock().Boot
	w.mu.Lock()
	defer w.mu.Unlock()
	return max(0, w.ticket.RedeemBy-now), max(0, w.ticket.HardEnd-now), max(0, w.touch+IdleEnd-now)
}

// due tells how the view ends now, or "".
func (w *View) due(now clock.Instant) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.phase != Open:
		return ""
	case now.Boot-w.touch > IdleEnd:
		return EndIdle
	case w.client == nil && now.Boot-w.seen > AloneEnd:
		return EndAlone
	}
	if w.client != nil {
		w.seen = now.Boot
	}
	return ""
}

// finish ends the view once: the client is cut, keys are let go, the VNC server ends if asked.
func (w *View) finish(how string, endVNC bool) bool {
	w.mu.Lock()
	if w.phase == Ended {
		w.mu.Unlock()
		return false
	}
	w.phase, w.how, w.over = Ended, how, w.views.config.Clock().Boot
	c, in := w.client, w.input
	w.client, w.input = nil, nil
	w.mu.Unlock()
	if c != nil {
		c.end(errors.New(how))
	}
	if in != nil {
		in.ReleaseKeys()
		in.Close()
	}
	if endVNC {
		w.screen.EndVNC()
	}
	w.views.book.End(w.ID)
	close(w.ended)
	return true
}

func (w *View) endedAt() (time.Duration, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over, w.phase == Ended
}

// keyboard gives the view's X input, made when it is first needed.
func (w *View) keyboard() (Input, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.phase == Ended || w.phase == Waiting {
		return nil, fault.New(fault.Failed, "cannot reach the keyboard of %s: the view has ended", w.Site)
	}
	if w.input != nil {
		return w.input, nil
	}
	in, err := w.screen.Input()
	if err != nil {
		return nil, err
	}
	w.input = in
	return in, nil
}

func (w *View) touched() {
	now := w.views.config.Clock().Boot
	w.mu.Lock()
	w.touch = now
	w.mu.Unlock()
}

// Text sends text into the focused field. It counts as input.
func (w *View) Text(ctx context.Context, text secret.Text, typed bool) (way string, err error) {
	in, err := w.keyboard()
	if err != nil {
		return "", err
	}
	w.touched()
	return in.Text(ctx, text, typed)
}

// Resize sets the size of the screen, in pixels.
func (w *View) Resize(width, height int) (int, int, error) {
	in, err := w.keyboard()
	if err != nil {
		return 0, 0, err
	}
	return in.Resize(width, height)
}

// Save ends the view as Done does: the client is cut, and finish may be told the verdict when Chrome has written. Only an open view
// can be done.
func (w *View) Save() error {
	w.mu.Lock()
	if w.phase != Open {
		phase := w.phase
		w.mu.Unlock()
		return fault.New(fault.Failed, "cannot finish the view of %s: it is %s", w.Site, phase)
	}
	w.phase = Saving
	c := w.client
	w.client = nil
	w.mu.Unlock()
	if c != nil {
		c.end(errors.New("done"))
	}
	return nil
}

// Saved ends a view that Save began, with the verdict that the person sees.
func (w *View) Saved(state string) {
	w.mu.Lock()
	w.state = state
	w.mu.Unlock()
	w.finish(EndDone, true)
}

// Cancel ends the view by the person's wish and keeps the browser.
func (w *View) Cancel() { w.finish(EndCancelled, true) }

func asRefusal(err error) (*ticket.Refusal, bool) {
	var r *ticket.Refusal
	ok := errors.As(err, &r)
	return r, ok
}

// Dial opens the VNC server (bridge.Screen).
func (w *View) Dial(ctx context.Context) (net.Conn, error) {
	socket, _, err := w.screen.VNC(ctx)
	if err != nil {
		return nil, err
	}
	return dialUnix(ctx, socket)
}
