package ticket_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/5dive/browser/internal/clock"
	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/viewer/ticket"
)

// watch is a clock that a test sets.
type watch struct {
	mu  sync.Mutex
	now clock.Instant
}

func newWatch() *watch {
	return &watch{now: clock.Instant{Boot: time.Hour, Wall: time.Date(2026, 9, 7, 12, 0, 0, 0, time.UTC)}}
}

func (w *watch) read() clock.Instant {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// pass moves both clocks.
func (w *watch) pass(d time.Duration) { w.shift(d, d) }

func (w *watch) shift(boot, wall time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = clock.Instant{Boot: w.now.Boot + boot, Wall: w.now.Wall.Add(wall)}
}

func request(profile string) ticket.Request {
	return ticket.Request{Profile: profile, Seat: "seat1", Bind: "local", Note: "log in, please"}
}

func mint(t *testing.T, b *ticket.Book, r ticket.Request) ticket.Minted {
	t.Helper()
	m, err := b.Mint(r)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func living() error { return nil }

func TestMintGivesWhatWasAsked(t *testing.T) {
	w := newWatch()
	b := ticket.New(w.read)
	m := mint(t, b, request("example.com"))
	if m.State != ticket.Open || m.Kind != ticket.Control || m.Profile != "example.com" || m.Bind != "local" {
		t.Errorf("minted %+v", m.Ticket)
	}
	if got := m.RedeemBy - m.Start.Boot; got != 600*time.Second {
		t.Errorf("life is %v", got)
	}
	if got := m.HardEnd - m.Start.Boot; got != time.Hour {
		t.Errorf("hard end after %v", got)
	}
	if n := len(m.Nonce.Reveal()); n != 64 {
		t.Errorf("nonce of %d characters", n)
	}
	if text := fmt.Sprintf("%v %+v %#v", m, m, m); strings.Contains(text, m.Nonce.Reveal()) {
		t.Error("printing a minted ticket shows its nonce")
	}
}

func TestMintRefusals(t *testing.T) {
	change := func(f func(*ticket.Request)) ticket.Request {
		r := request("example.com")
		f(&r)
		return r
	}
	for name, r := range map[string]ticket.Request{
		"no profile":     change(func(r *ticket.Request) { r.Profile = "" }),
		"no seat":        change(func(r *ticket.Request) { r.Seat = "" }),
		"no session":     change(func(r *ticket.Request) { r.Bind = "" }),
		"session lines":  change(func(r *ticket.Request) { r.Bind = "a\nb" }),
		"long session":   change(func(r *ticket.Request) { r.Bind = strings.Repeat("s", 257) }),
		"note lines":     change(func(r *ticket.Request) { r.Note = "a\nb" }),
		"note reversed":  change(func(r *ticket.Request) { r.Note = "a\u202eb" }),
		"note not UTF-8": change(func(r *ticket.Request) { r.Note = "\xff" }),
		"long note":      change(func(r *ticket.Request) { r.Note = strings.Repeat("n", 501) }),
		"TTL 29 s":       change(func(r *ticket.Request) { r.TTL = 29 * time.Second }),
		"TTL 3601 s":     change(func(r *ticket.Request) { r.TTL = 3601 * time.Second }),
		"TTL below zero": change(func(r *ticket.Request) { r.TTL = -time.Second }),
		"kind":           change(func(r *ticket.Request) { r.Kind = "drive" }),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ticket.New(newWatch().read).Mint(r); fault.Of(err) != fault.Usage {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestMintCountsFromTheStartOfTheView(t *testing.T) {
	w := newWatch()
	b := ticket.New(w.read)
	r := request("example.com")
	r.TTL, r.Start = 30*time.Second, w.read()
	w.pass(10 * time.Second)
	m := mint(t, b, r)
	if left := m.Left(w.read()); left != 20*time.Second {
		t.Errorf("the link advertises %v, the server lives 20s", left)
	}
	r.Start = w.read()
	w.pass(31 * time.Second)
	if _, err := b.Mint(r); fault.Of(err) != fault.Failed {
		t.Errorf("a view that started for longer than the TTL: %v", err)
	}
}

func TestNewerMintVoidsTheOlder(t *testing.T) {
	b := ticket.New(newWatch().read)
	old := mint(t, b, request("example.com"))
	other := mint(t, b, request("example.org"))
	young := mint(t, b, request("example.com"))
	if _, err := b.Claim(old.ID, old.Nonce, "local", living); ticket.Why(err) != ticket.ReasonReplaced {
		t.Errorf("the older: %v", err)
	}
	if _, err := b.Claim(young.ID, young.Nonce, "local", living); err != nil {
		t.Errorf("the newer: %v", err)
	}
	if _, err := b.Claim(other.ID, other.Nonce, "local", living); err != nil {
		t.Errorf("of another profile: %v", err)
	}
}

func TestMintDuringAView(t *testing.T) {
	b := ticket.New(newWatch().read)
	m := mint(t, b, request("example.com"))
	if _, err := b.Claim(m.ID, m.Nonce, "local", living); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Mint(request("example.com")); fault.Of(err) != fault.Busy || fault.Hint(err) == "" {
		t.Errorf("got %v", err)
	}
	b.End(m.ID)
	mint(t, b, request("example.com"))
	if _, err := b.Claim(m.ID, m.Nonce, "local", living); ticket.Why(err) != ticket.ReasonSpent {
		t.Errorf("the spent one again: %v", err)
	}
}

func TestVoid(t *testing.T) {
	b := ticket.New(newWatch().read)
	if _, ok := b.Void("example.com"); ok {
		t.Error("voided nothing")
	}
	m := mint(t, b, request("example.com"))
	if got, ok := b.Void("example.com"); !ok || got.ID != m.ID || got.State != ticket.Void {
		t.Errorf("got %+v %v", got, ok)
	}
	if _, ok := b.Current("example.com"); ok {
		t.Error("a voided ticket is current")
	}
	if _, err := b.Claim(m.ID, m.Nonce, "local", living); ticket.Why(err) != ticket.ReasonRevoked {
		t.Errorf("got %v", err)
	}
}

func TestExpireGivesEachOnce(t *testing.T) {
	w := newWatch()
	b := ticket.New(w.read)
	unseen, seen := mint(t, b, request("example.com")), mint(t, b, request("example.org"))
	if _, err := b.Claim(seen.ID, seen.Nonce, "local", living); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		pass              time.Duration
		unredeemed, ended string
	}{
		{600 * time.Second, "", ""},
		{time.Second, unseen.ID, ""},
		{time.Second, "", ""},
		{time.Hour - 602*time.Second, "", ""},
		{time.Second, "", seen.ID},
		{time.Hour, "", ""},
	} {
		w.pass(step.pass)
		unredeemed, ended := b.Expire(w.read())
		if ids(unredeemed) != step.unredeemed || ids(ended) != step.ended {
			t.Errorf("after %v: unredeemed %q, ended %q; want %q, %q", w.read().Boot-time.Hour, ids(unredeemed), ids(ended), step.unredeemed, step.ended)
		}
	}
}

func ids(list []ticket.Ticket) (s string) {
	for _, t := range list {
		s += t.ID
	}
	return s
}

func TestManyMintsKeepTheBookSmall(t *testing.T) {
	b := ticket.New(newWatch().read)
	first := mint(t, b, request("example.com"))
	for range 50 {
		mint(t, b, request("example.com"))
	}
	if _, err := b.Claim(first.ID, first.Nonce, "local", living); ticket.Why(err) != ticket.ReasonUnknown {
		t.Errorf("a ticket from 50 mints ago is still known: %v", err)
	}
}

var errDead = errors.New("no answer")
