package viewer

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/5dive/browser/internal/clock"
	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/secret"
)

// bench is a set of views on a clock that the test moves, with a screen that only counts.
type bench struct {
	*Views
	now    clock.Instant
	screen *countedScreen
	mu     sync.Mutex
	events []string
}

type countedScreen struct {
	starts, ends int
	dead         error
	input        countedInput
}

func (s *countedScreen) VNC(context.Context) (string, string, error) {
	s.starts++
	return "/nowhere", "tigervnc", s.dead
}
func (s *countedScreen) EndVNC()               { s.ends++ }
func (s *countedScreen) Input() (Input, error) { return &s.input, nil }

type countedInput struct{ released, closed int }

func (*countedInput) Key(uint32, bool) error { return nil }
func (i *countedInput) ReleaseKeys() error   { i.released++; return nil }
func (*countedInput) Text(context.Context, secret.Text, bool) (string, error) {
	return "pasted", nil
}
func (*countedInput) Resize(w, h int) (int, int, error) { return w, h, nil }
func (i *countedInput) Close()                          { i.closed++ }

func newBench() *bench {
	b := &bench{now: clock.Instant{Boot: time.Hour, Wall: time.Unix(1e9, 0)}, screen: &countedScreen{}}
	b.Views = New(Config{Seat: "alice", Clock: func() clock.Instant { return b.now }, Note: func(name, site string, fields map[string]string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.events = append(b.events, name)
		for _, v := range fields {
			if len(v) == 64 {
				panic("an event holds what looks like a nonce or a hash")
			}
		}
	}})
	return b
}

func (b *bench) pass(d time.Duration) {
	b.now.Boot += d
	b.now.Wall = b.now.Wall.Add(d)
	b.Tick()
}

func (b *bench) mint(t *testing.T) (*View, secret.Text) {
	t.Helper()
	v, nonce, err := b.Mint(t.Context(), Request{Site: "example.com", Bind: "s1"}, b.screen)
	if err != nil {
		t.Fatal(err)
	}
	return v, nonce
}

func (b *bench) enter(t *testing.T) (*View, secret.Text) {
	t.Helper()
	v, nonce := b.mint(t)
	_, token, err := b.Enter(t.Context(), v.ID, nonce, "s1")
	if err != nil {
		t.Fatal(err)
	}
	return v, token
}

func TestHowAViewEnds(t *testing.T) {
	for _, row := range []struct {
		name  string
		enter bool
		do    func(t *testing.T, b *bench, v *View)
		want  string
	}{
		{"nobody came", false, func(_ *testing.T, b *bench, _ *View) { b.pass(600*time.Second + 1) }, EndExpired},
		{"no input", true, func(_ *testing.T, b *bench, v *View) {
			v.client = &client{cancel: func(error) {}, gone: closed()}
			b.pass(IdleEnd + time.Second)
		}, EndIdle},
		{"no client", true, func(_ *testing.T, b *bench, _ *View) { b.pass(AloneEnd + time.Second) }, EndAlone},
		{"hard end", true, func(_ *testing.T, b *bench, v *View) {
			v.client = &client{cancel: func(error) {}, gone: closed()}
			for range 7 {
				v.Touched()
				b.pass(9 * time.Minute)
			}
		}, EndLimit},
		{"revoked", true, func(_ *testing.T, b *bench, _ *View) { b.Revoke("example.com") }, EndRevoked},
		{"revoked before it was used", false, func(_ *testing.T, b *bench, _ *View) { b.Revoke("example.com") }, EndRevoked},
		{"cancelled", true, func(_ *testing.T, _ *bench, v *View) { v.Cancel() }, EndCancelled},
		{"its browser ended", true, func(_ *testing.T, b *bench, _ *View) { b.Stopped("example.com") }, EndStopped},
		{"done", true, func(t *testing.T, b *bench, v *View) {
			if err := v.Save(); err != nil {
				t.Fatal(err)
			}
			b.Stopped("example.com") // saving ends the browser
			v.Saved("authenticated")
		}, EndDone},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench()
			var v *View
			if row.enter {
				v, _ = b.enter(t)
			} else {
				v, _ = b.mint(t)
			}
			row.do(t, b, v)
			if how, _ := v.End(); how != row.want {
				t.Errorf("ended by %q, want %q", how, row.want)
			}
			if err := v.Wait(t.Context()); err != nil {
				t.Error(err)
			}
			if b.screen.ends != 1 {
				t.Errorf("the VNC server was ended %d times, want once", b.screen.ends)
			}
			if _, _, err := b.Mint(t.Context(), Request{Site: "example.com", Bind: "s1"}, b.screen); err != nil {
				t.Errorf("no new link after it: %v", err)
			}
		})
	}
}

func closed() chan struct{} { c := make(chan struct{}); close(c); return c }

// TestWaitsForItsClient: two minutes alone are not counted while somebody looks, nor from before he left.
func TestWaitsForItsClient(t *testing.T) {
	b := newBench()
	v, _ := b.enter(t)
	_, leave, err := v.attach(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.pass(5 * time.Minute)
	leave()
	b.pass(AloneEnd - time.Second)
	if v.Phase() != Open {
		t.Fatalf("the view ended %s after its client had left", AloneEnd-time.Second)
	}
	b.pass(2 * time.Second)
	if how, _ := v.End(); how != EndAlone {
		t.Errorf("ended by %q, want %q", how, EndAlone)
	}
}

func TestMintDuringUseIsBusy(t *testing.T) {
	b := newBench()
	b.enter(t)
	starts := b.screen.starts
	if _, _, err := b.Mint(t.Context(), Request{Site: "example.com", Bind: "s2"}, b.screen); fault.Of(err) != fault.Busy {
		t.Errorf("have %v, want busy", err)
	}
	if b.screen.starts != starts || b.screen.ends != 0 {
		t.Error("a refused mint touched the VNC server of the view in use")
	}
}

func TestNewerLinkReplacesOlder(t *testing.T) {
	b := newBench()
	old, nonce := b.mint(t)
	b.mint(t)
	if how, _ := old.End(); how != EndReplaced {
		t.Errorf("the older view ended by %q", how)
	}
	if b.screen.ends != 0 {
		t.Error("the VNC server of the newer view was ended with the older one")
	}
	if _, _, err := b.Enter(t.Context(), old.ID, nonce, "s1"); err == nil {
		t.Error("the older link still opens")
	}
}

func TestDeadScreenLeavesTheLinkGood(t *testing.T) {
	b := newBench()
	v, nonce := b.mint(t)
	b.screen.dead = errors.New("gone")
	if _, _, err := b.Enter(t.Context(), v.ID, nonce, "s1"); err == nil {
		t.Fatal("entered a view without a screen")
	}
	b.screen.dead = nil
	if _, _, err := b.Enter(t.Context(), v.ID, nonce, "s1"); err != nil {
		t.Errorf("the link was spent by a dead screen: %v", err)
	}
}

func TestMintNeedsAScreen(t *testing.T) {
	b := newBench()
	b.screen.dead = fault.New(fault.Missing, "no VNC server")
	if _, _, err := b.Mint(t.Context(), Request{Site: "example.com", Bind: "s1"}, b.screen); fault.Of(err) != fault.Missing {
		t.Errorf("have %v, want missing", err)
	}
	if b.Living() != 0 || len(b.events) != 0 {
		t.Errorf("a refused mint left something: %d views, events %v", b.Living(), b.events)
	}
}

func TestTokensAreOfTheirViewAlone(t *testing.T) {
	b := newBench()
	v, token := b.enter(t)
	if got, err := b.ByToken(token); err != nil || got != v {
		t.Errorf("the right token: %v, %v", got, err)
	}
	for _, wrong := range []secret.Text{{}, secret.New("x"), secret.Random(32)} {
		if _, err := b.ByToken(wrong); fault.Of(err) != fault.Denied {
			t.Errorf("a wrong token: %v", err)
		}
	}
	waiting, _, err := b.Mint(t.Context(), Request{Site: "other.example", Bind: "s1"}, b.screen)
	if err != nil {
		t.Fatal(err)
	}
	if waiting.Holds(secret.Text{}) || waiting.Holds(token) {
		t.Error("a view that nobody entered has a holder")
	}
}

func TestRedeemByPassword(t *testing.T) {
	b := newBench()
	v, nonce := b.mint(t)
	if _, _, err := b.Redeem(t.Context(), "example.com", nonce, "s2"); err == nil {
		t.Error("another session redeemed the link")
	}
	got, password, err := b.Redeem(t.Context(), "example.com", nonce, "s1")
	if err != nil || got != v {
		t.Fatalf("have %v, %v", got, err)
	}
	if n := len(password.Reveal()); n != 8 {
		t.Errorf("the password has %d characters; VNC looks at 8", n)
	}
	if _, _, err := b.Redeem(t.Context(), "example.com", nonce, "s1"); err == nil {
		t.Error("the link was redeemed twice")
	}
	want := "viewer_minted viewer_bind viewer_denied viewer_redeemed viewer_denied"
	if have := strings.Join(b.events, " "); have != want {
		t.Errorf("events: %s; want %s", have, want)
	}
}

func TestPasswordsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		p := newPassword().Reveal()
		if seen[p] {
			t.Fatal("a password came twice in a thousand")
		}
		seen[p] = true
	}
}

// TestAttachReplaces: whoever comes back takes the place of his own old connection, which may be half open.
func TestAttachReplaces(t *testing.T) {
	b := newBench()
	v, _ := b.enter(t)
	first, leave, err := v.attach(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	go func() { <-first.Done(); leave() }()
	second, leave2, err := v.attach(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer leave2()
	if first.Err() == nil || second.Err() != nil {
		t.Error("the older connection lives beside the newer one")
	}
	if v.client == nil {
		t.Error("the newer connection is not the view's")
	}
}
