// Package clock gives instants that survive suspend and expose a wall clock that was set back or forward:
// CLOCK_BOOTTIME runs through suspend, the wall clock checks it. Ages are judged on the boot clock; a large disagreement
// between the two (a VM restored from a snapshot) makes an instant unusable.
package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Instant is one reading of both clocks.
type Instant struct {
	Boot time.Duration // CLOCK_BOOTTIME
	Wall time.Time
}

// Clock reads both clocks. Tests inject their own.
type Clock func() Instant

// System is the machine's clock.
func System() Instant {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic("clock: CLOCK_BOOTTIME is not readable: " + err.Error())
	}
	return Instant{Boot: time.Duration(ts.Nano()), Wall: time.Now().Round(0)}
}

// Skew is how far the two clocks disagree about the time between a and b (b later), always positive.
func Skew(a, b Instant) time.Duration {
	d := b.Wall.Sub(a.Wall) - (b.Boot - a.Boot)
	return d.Abs()
}
