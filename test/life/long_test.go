//go:build long

package life_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/5dive/browser/test/scene"
)

const (
	cutViews = 10
	cycles   = 20
	sites    = 8
)

// A Chrome that crashes again and again is given up after the sixth time: the waits double, the profile ends, the service goes on.
func TestChromeGivesUp(t *testing.T) {
	s := written(t)
	service := s.Service()
	for crash := range 6 {
		var pid int
		scene.Until(t, 2*time.Minute, "a Chrome to crash", func() bool {
			now := s.All("chrome")
			if len(now) == 1 {
				pid = now[0].PID
			}
			return len(now) == 1 && s.Happened("chrome_restart") == crash
		})
		scene.Signal(t, pid, syscall.SIGSEGV)
		scene.Until(t, time.Minute, "the crash in the journal", func() bool { return s.Happened("chrome_exit") == crash+1 })
	}
	scene.Until(t, time.Minute, "the end of it", func() bool { return s.Happened("chrome_gave_up") == 1 && s.Happened("stopped") == 2 })
	s.Alone(service, soon)
	var waits []time.Duration
	var exit time.Time
	for _, e := range s.Events() {
		switch e.Name {
		case "chrome_exit":
			exit = e.Time
		case "chrome_restart":
			waits = append(waits, e.Time.Sub(exit))
		}
	}
	for i, want := 0, time.Second; i < len(waits); i, want = i+1, 2*want {
		if waits[i] < want {
			t.Errorf("restart %d came after %v, want %v", i+1, waits[i], want)
		}
	}
	s.Kept(true)
}

// kill -9 of Chrome itself later than 36 s after a login: the cookies are on the disk.
func TestWrittenAfter36Seconds(t *testing.T) {
	s := scene.New(t)
	s.SignIn(true)
	wait := time.NewTimer(36 * time.Second) // how long Chrome may keep a cookie in memory; nothing tells of the write
	<-wait.C
	for _, word := range []string{"seatd", "keeper", "chrome"} {
		scene.Signal(t, s.Find(word), syscall.SIGKILL)
	}
	scene.Until(t, time.Minute, "the end of the display", func() bool { return len(s.All("Xvfb")) == 0 })
	s.Kept(true)
}
