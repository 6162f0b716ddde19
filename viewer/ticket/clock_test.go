package ticket_test

import (
	"testing"
	"time"

	"github.com/5dive/browser/viewer/ticket"
)

// TestClocks is row 44 of docs/threat-model.md: what the clocks may do between mint and claim. A reboot voids all
// because the book is memory.
func TestClocks(t *testing.T) {
	const s, h, d = time.Second, time.Hour, 24 * time.Hour
	for _, row := range []struct {
		name       string
		ttl        time.Duration
		boot, wall time.Duration
		good       bool
	}{
		{"at once", 0, 0, 0, true},
		{"just in time", 0, 600 * s, 600 * s, true},
		{"TTL and a second", 0, 601 * s, 601 * s, false},
		{"short TTL, in time", 30 * s, 30 * s, 30 * s, true},
		{"short TTL, late", 30 * s, 31 * s, 31 * s, false},
		{"wall an hour back", 0, s, -h + s, false},
		{"wall an hour back, longest TTL", 3600 * s, s, -h - 6*s, false},
		{"wall a day on, boot a second", 0, s, d, false},
		{"wall a second back", 0, 10 * s, 9 * s, true},
		{"wall set by 4 s late in life", 0, 600 * s, 604 * s, true},
		{"suspended for a day", 0, d, d, false},
		{"suspended, wall set back to hide it", 0, d, 10 * s, false},
		{"boot clock before the mint", 0, -s, s, false},
		{"both clocks before the mint", 0, -h, -h, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWatch()
			b := ticket.New(w.read)
			r := request("example.com")
			r.TTL = row.ttl
			m := mint(t, b, r)
			w.shift(row.boot, row.wall)
			_, err := b.Claim(m.ID, m.Nonce, "local", living)
			if (err == nil) != row.good {
				t.Errorf("got %v", err)
			}
			if !row.good && ticket.Why(err) != ticket.ReasonExpired {
				t.Errorf("reason %q", ticket.Why(err))
			}
			if unredeemed, _ := b.Expire(w.read()); (len(unredeemed) == 0) != row.good {
				t.Errorf("the sweep ends %d views", len(unredeemed))
			}
		})
	}
}
