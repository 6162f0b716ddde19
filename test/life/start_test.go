package life_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/5dive/browser/serve"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/test/scene"
	"github.com/5dive/browser/test/stage"
)

// moments of a start: before the profile is made, while the display starts, while Chrome does.
var moments = []time.Duration{0, 20 * time.Millisecond, 60 * time.Millisecond, 120 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	800 * time.Millisecond}

// A service that is told to end in the middle of a start ends, and takes with it what was just being started.
func TestEndDuringStart(t *testing.T) {
	s := scene.New(t)
	s.SignIn(true)
	s.Stop()
	for _, moment := range moments {
		s.Must("ls")
		service := s.Service()
		answer := make(chan error, 1)
		go func() {
			_, err := s.Stage.Verb(scene.Limit(t, time.Minute), "serve", scene.Name, "--url="+s.Origin+"/login")
			answer <- err
		}()
		time.Sleep(moment) // it is the moment that is tried
		scene.Signal(t, service, syscall.SIGTERM)
		scene.Ended(t, service, soon)
		var refused *stage.Refused
		if err := <-answer; err != nil && !errors.As(err, &refused) {
			t.Errorf("after %s: %v", moment, err)
		}
		s.Stop() // a service of its own may have been started by the verb, which came after the end
		s.Alone(s.Service(), soon)
	}
	s.Kept(true)
}

// A caller who leaves in the middle of a start takes nothing with him: the browser goes on and the site is wanted, so that the next caller
// has it, stop ends it well, and another service serves it again.
func TestCallerLeaves(t *testing.T) {
	s := scene.New(t)
	s.Must("ls")
	serve := func(moment time.Duration) {
		ctx, leave := context.WithCancel(context.Background())
		cmd := s.Stage.Command(ctx, s.Stage.Binary, "browser", "serve", scene.Name, "--url="+s.Origin+"/login")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		scene.Until(t, time.Minute, "a keeper", func() bool { return len(s.All("keeper")) == 1 })
		time.Sleep(moment) // it is the moment that is tried
		leave()
		cmd.Wait()
	}
	serve(0)
	s.Serve("/login")
	if n := len(s.All("chrome")); n != 1 {
		t.Errorf("%d Chromes run", n)
	}
	s.Stop()
	s.Alone(s.Service(), soon)
	for _, moment := range moments {
		serve(moment)
		if r := s.Stop(); r.Killed || r.Already {
			t.Errorf("stopped %s after the keeper began: %+v", moment, r)
		}
		s.Alone(s.Service(), soon)
	}
	served := s.Happened("served")
	serve(0)
	scene.Until(t, time.Minute, "the event", func() bool { return s.Happened("served") == served+1 })
	old := s.Service()
	scene.Signal(t, old, syscall.SIGKILL)
	scene.Ended(t, old, soon)
	s.Must("ls")
	scene.Until(t, time.Minute, "the site to be served again", func() bool { return s.Happened("served") == served+2 })
	s.Stop()
	s.Alone(s.Service(), soon)
}

// A caller who promises a request and never sends it does not keep the service from ending.
func TestStalledCaller(t *testing.T) {
	s := scene.New(t)
	s.Must("ls")
	conn, err := serve.Dial(scene.Limit(t, time.Minute), s.Seat(), serve.RoleSeat)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: seat\r\nContent-Length: 100\r\n\r\n{", api.PathServe); err != nil {
		t.Fatal(err)
	}
	service := s.Service()
	scene.Signal(t, service, syscall.SIGTERM)
	scene.Ended(t, service, 2*soon)
}
