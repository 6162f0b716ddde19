package life_test

import (
	"testing"
	"time"

	"github.com/5dive/browser/test/scene"
)

// A service that nothing needs ends by itself, the next verb starts another; one that serves stays.
func TestIdle(t *testing.T) {
	s := scene.New(t)
	s.Must("ls")
	pid, _ := s.Clocked(2 * time.Second)
	s.Serve("/login")
	if scene.Happens(6*time.Second, func() bool { return !scene.Alive(pid) }) {
		t.Fatal("the service ended while it served")
	}
	s.Stop()
	scene.Until(t, time.Minute, "the end of the idle service", func() bool { return !scene.Alive(pid) })
	s.Serve("/login")
	if now := s.Service(); now == pid {
		t.Error("the service that ended is still there")
	}
}

// Verbs that come while an idle service is about to end all find one.
func TestIdleRace(t *testing.T) {
	s := scene.New(t)
	s.Must("ls")
	for range 4 {
		pid, _ := s.Clocked(time.Second)
		scene.Until(t, time.Minute, "the end of the idle service", func() bool {
			s.Must("ls") // each one may be what keeps it, or what finds it ending
			return !scene.Alive(pid) || scene.Happens(1100*time.Millisecond, func() bool { return !scene.Alive(pid) })
		})
	}
}
