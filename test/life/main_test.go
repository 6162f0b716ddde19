// Package life_test is the life and death of a seat's processes, through the real verbs, with the demo site as the witness: whatever is
// killed, nothing is left running, and the next `serve` works with the login intact. It also holds what a machine does to a seat: stale
// locks, a full disk, other environments, two callers at once, a store that was tampered with.
//
// Times are limits that end a test, not measures: the 5 s of the promise are counted generously on a busy machine.
package life_test

import (
	"testing"
	"time"

	"github.com/5dive/browser/test/scene"
)

func TestMain(m *testing.M) {
	scene.Main(m, map[string]scene.Role{"seatd": scene.Seatd, "knock": knockRole, "visit": visitRole})
}

// soon is the promise of 5 s after a death, on a machine that other tests share.
const soon = 15 * time.Second
