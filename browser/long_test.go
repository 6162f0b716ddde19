//go:build long

package browser

import (
	"testing"
	"time"
)

// P04: Chrome writes cookies at most 30 s late, so a SIGKILL 36 s after a login loses nothing.
func TestLoginSurvivesKillAfter36Seconds(t *testing.T) {
	r := newRig(t)
	c := r.signIn(true)
	<-time.After(36 * time.Second)
	c.kill()
	r.again("after SIGKILL", true)
}
