package ticket_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/secret"
	"github.com/5dive/browser/viewer/ticket"
)

// generic is the one text that a caller who does not hold the link may read (docs/threat-model.md row 45).
const generic = "cannot redeem the link: it was used, has expired, or is not for this session"

func TestClaim(t *testing.T) {
	b := ticket.New(newWatch().read)
	m := mint(t, b, request("example.com"))
	got, err := b.Claim(m.ID, m.Nonce, "local", living)
	if err != nil {
		t.Fatal(err)
	}
	if got.ID != m.ID || got.State != ticket.InUse || got.HardEnd != m.HardEnd || got.Note != m.Note {
		t.Errorf("got %+v", got)
	}
}

func TestClaimProfile(t *testing.T) {
	b := ticket.New(newWatch().read)
	old, m := mint(t, b, request("example.com")), mint(t, b, request("example.com"))
	for _, row := range []struct {
		name, profile string
		nonce         secret.Text
		why           ticket.Reason
	}{
		{"another profile", "example.org", m.Nonce, ticket.ReasonUnknown},
		{"wrong nonce", "example.com", secret.Random(32), ticket.ReasonNonce},
		{"the older link", "example.com", old.Nonce, ticket.ReasonReplaced},
		{"right", "example.com", m.Nonce, ""},
		{"again", "example.com", m.Nonce, ticket.ReasonSpent},
		{"wrong nonce once spent", "example.com", secret.Random(32), ticket.ReasonSpent},
	} {
		if _, err := b.ClaimProfile(row.profile, row.nonce, "local", living); ticket.Why(err) != row.why {
			t.Errorf("%s: %v (%s), want %s", row.name, err, ticket.Why(err), row.why)
		}
	}
}

// TestRefusals walks every way to be refused: what the caller reads, what the journal reads, and that the link is as good
// as before for the one whose it is.
func TestRefusals(t *testing.T) {
	type call struct {
		id, session string
		nonce       secret.Text
		alive       func() error
	}
	dead := func() error { return errDead }
	long := secret.New(strings.Repeat("a", 1<<20))
	rows := []struct {
		name   string
		before func(w *watch, b *ticket.Book, m ticket.Minted)
		change func(c *call, m ticket.Minted)
		why    ticket.Reason
		own    bool // the caller may be told more than the generic text
		good   bool // the holder may still redeem afterwards
	}{
		{"unknown id", nil, func(c *call, _ ticket.Minted) { c.id = "nothing" }, ticket.ReasonUnknown, false, true},
		{"wrong session", nil, func(c *call, _ ticket.Minted) { c.session = "other" }, ticket.ReasonSession, false, true},
		{"no session", nil, func(c *call, _ ticket.Minted) { c.session = "" }, ticket.ReasonSession, false, true},
		{"wrong nonce", nil, func(c *call, _ ticket.Minted) { c.nonce = secret.Random(32) }, ticket.ReasonNonce, false, true},
		{"no nonce", nil, func(c *call, _ ticket.Minted) { c.nonce = secret.Text{} }, ticket.ReasonNonce, false, true},
		{"upper case", nil, func(c *call, m ticket.Minted) { c.nonce = secret.New(strings.ToUpper(m.Nonce.Reveal())) }, ticket.ReasonNonce, false, true},
		{"63 hex", nil, func(c *call, m ticket.Minted) { c.nonce = secret.New(m.Nonce.Reveal()[:63]) }, ticket.ReasonNonce, false, true},
		{"65 hex", nil, func(c *call, m ticket.Minted) { c.nonce = secret.New(m.Nonce.Reveal() + "0") }, ticket.ReasonNonce, false, true},
		{"newline behind", nil, func(c *call, m ticket.Minted) { c.nonce = secret.New(m.Nonce.Reveal() + "\n") }, ticket.ReasonNonce, false, true},
		{"a path", nil, func(c *call, _ ticket.Minted) { c.nonce = secret.New("../../etc/passwd") }, ticket.ReasonNonce, false, true},
		{"1 MiB", nil, func(c *call, _ ticket.Minted) { c.nonce = long }, ticket.ReasonNonce, false, true},
		{"right nonce, 1 MiB behind", nil, func(c *call, m ticket.Minted) { c.nonce = secret.New(m.Nonce.Reveal() + long.Reveal()) }, ticket.ReasonNonce, false, true},
		{"dead view", nil, func(c *call, _ ticket.Minted) { c.alive = dead }, ticket.ReasonDeadView, true, true},
		{"replay", spend, nil, ticket.ReasonSpent, true, false},
		{"replay, wrong session", spend, func(c *call, _ ticket.Minted) { c.session = "other" }, ticket.ReasonSpent, false, false},
		{"replay, wrong nonce", spend, func(c *call, _ ticket.Minted) { c.nonce = secret.Random(32) }, ticket.ReasonSpent, false, false},
		{"revoked", revoke, nil, ticket.ReasonRevoked, true, false},
		{"revoked, wrong session", revoke, func(c *call, _ ticket.Minted) { c.session = "other" }, ticket.ReasonRevoked, false, false},
		{"expired", late, nil, ticket.ReasonExpired, true, false},
		{"expired, wrong session", late, func(c *call, _ ticket.Minted) { c.session = "other" }, ticket.ReasonSession, false, false},
		{"expired and swept", swept, nil, ticket.ReasonExpired, true, false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			w := newWatch()
			b := ticket.New(w.read)
			m := mint(t, b, request("example.com"))
			if row.before != nil {
				row.before(w, b, m)
			}
			c := call{m.ID, "local", m.Nonce, living}
			if row.change != nil {
				row.change(&c, m)
			}
			_, err := b.Claim(c.id, c.nonce, c.session, c.alive)
			if fault.Of(err) != fault.Failed || ticket.Why(err) != row.why {
				t.Errorf("got %v, kind %s, reason %q; want reason %q", err, fault.Of(err), ticket.Why(err), row.why)
			}
			if own := err.Error() != generic; own != row.own || fault.Hint(err) != "" {
				t.Errorf("the caller reads %q, hint %q", err, fault.Hint(err))
			}
			if _, err := b.Claim(m.ID, m.Nonce, "local", living); (err == nil) != row.good {
				t.Errorf("afterwards the holder gets %v", err)
			}
		})
	}
}

func spend(_ *watch, b *ticket.Book, m ticket.Minted)  { b.Claim(m.ID, m.Nonce, "local", living) }
func revoke(_ *watch, b *ticket.Book, m ticket.Minted) { b.Void(m.Profile) }
func late(w *watch, _ *ticket.Book, _ ticket.Minted)   { w.pass(601 * time.Second) }
func swept(w *watch, b *ticket.Book, m ticket.Minted)  { late(w, b, m); b.Expire(w.read()) }

// TestAliveIsAskedLast counts how often a claim touches the view: once for the winner, never for anybody who is refused
// for another reason, a replay above all (a pure refusal).
func TestAliveIsAskedLast(t *testing.T) {
	w := newWatch()
	b := ticket.New(w.read)
	m := mint(t, b, request("example.com"))
	asked := 0
	alive := func() error { asked++; return nil }
	b.Claim(m.ID, m.Nonce, "other", alive)
	b.Claim(m.ID, secret.Random(32), "local", alive)
	if asked != 0 {
		t.Errorf("a refused caller touched the view %d times", asked)
	}
	if _, err := b.Claim(m.ID, m.Nonce, "local", alive); err != nil || asked != 1 {
		t.Errorf("the winner: %v, asked %d times", err, asked)
	}
	for range 100 {
		b.Claim(m.ID, m.Nonce, "local", alive)
		b.ClaimProfile("example.com", m.Nonce, "local", alive)
	}
	if asked != 1 {
		t.Errorf("replays touched the view %d times", asked-1)
	}
}

func TestAPanicInAliveLeavesTheLinkGood(t *testing.T) {
	b := ticket.New(newWatch().read)
	m := mint(t, b, request("example.com"))
	func() {
		defer func() { recover() }()
		b.Claim(m.ID, m.Nonce, "local", func() error { panic("our bug") })
	}()
	if _, err := b.Claim(m.ID, m.Nonce, "local", living); err != nil {
		t.Error(err)
	}
}

func TestPeekChangesNothing(t *testing.T) {
	w := newWatch()
	b := ticket.New(w.read)
	m := mint(t, b, request("example.com"))
	sum := sha256.Sum256([]byte(m.Nonce.Reveal()))
	hash := hex.EncodeToString(sum[:])
	w.pass(100 * time.Second)
	for range 1000 {
		p, err := b.Peek(m.ID, hash)
		if err != nil || p.Profile != "example.com" || p.Seat != "seat1" || p.Note != m.Note || p.Left != 500*time.Second {
			t.Fatalf("got %+v, %v", p, err)
		}
	}
	for _, bad := range []string{"", strings.ToUpper(hash), hash[:63], hash + "0", m.Nonce.Reveal(), strings.Repeat("0", 64)} {
		if _, err := b.Peek(m.ID, bad); err == nil || err.Error() != generic {
			t.Errorf("hash %q: %v", bad, err)
		}
	}
	if _, err := b.Claim(m.ID, secret.New(hash), "local", living); err == nil {
		t.Error("the hash opens the view")
	}
	if _, err := b.Claim(m.ID, m.Nonce, "local", living); err != nil {
		t.Error(err)
	}
	if _, err := b.Peek(m.ID, hash); err == nil || err.Error() != generic {
		t.Errorf("peek at a spent link: %v", err)
	}
}
