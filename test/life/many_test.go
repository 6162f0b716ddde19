package life_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/test/scene"
	"github.com/5dive/browser/test/stage"
)

// Several sites of one seat at once: each has a display of its own, and all go.
func TestManySites(t *testing.T) {
	s := scene.New(t)
	var wait sync.WaitGroup
	errs := make([]error, sites)
	for i := range sites {
		wait.Go(func() {
			var r api.ServeResult
			errs[i] = s.Stage.JSON(scene.Limit(t, 4*time.Minute), &r, "serve", fmt.Sprintf("site-%d.example", i), "--url="+s.Origin+"/login")
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	displays := map[string]bool{}
	for _, p := range s.All("Xvfb") {
		displays[p.Argv[1]] = true
	}
	if len(displays) != sites || len(s.All("chrome")) != sites || len(s.All("keeper")) != sites || len(s.All("seatd")) != 1 {
		t.Errorf("%d sites have displays %v, %d Chromes, %d keepers, %d services", sites, displays, len(s.All("chrome")), len(s.All("keeper")), len(s.All("seatd")))
	}
	for i := range sites {
		wait.Go(func() {
			_, errs[i] = s.Stage.Verb(scene.Limit(t, 4*time.Minute), "serve", fmt.Sprintf("site-%d.example", i), "--stop")
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	s.Alone(s.Service(), soon)
}

// Two callers serve one site at once, with no service running yet: one browser, and one of the two is told that it was there already.
func TestTwoAtOnce(t *testing.T) {
	s := scene.New(t)
	var wait sync.WaitGroup
	errs, got := make([]error, 4), make([]api.ServeResult, 4)
	for i := range got {
		wait.Go(func() {
			errs[i] = s.Stage.JSON(scene.Limit(t, 2*time.Minute), &got[i], "serve", scene.Name, "--url="+s.Origin+"/login")
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	first := 0
	for _, r := range got {
		if !r.Already {
			first++
		}
	}
	if first != 1 || len(s.All("chrome")) != 1 || len(s.All("seatd")) != 1 {
		t.Errorf("%d of 4 opened the browser; %d Chromes and %d services run", first, len(s.All("chrome")), len(s.All("seatd")))
	}
}

// Verbs that cross: each ends by itself with a code of the table, and whatever came first, the next serve works with the login.
func TestCrossing(t *testing.T) {
	serve := func(s *scene.Scene) []string { return []string{"serve", scene.Name, "--url=" + s.Origin + "/account"} }
	stop := func(*scene.Scene) []string { return []string{"serve", scene.Name, "--stop"} }
	viewer := func(*scene.Scene) []string { return []string{"viewer", scene.Name, "--bind=local"} }
	revoke := func(*scene.Scene) []string { return []string{"viewer-revoke", scene.Name} }
	for _, row := range []struct {
		name   string
		served bool
		verbs  []func(*scene.Scene) []string
	}{
		{"serve during stop", true, []func(*scene.Scene) []string{stop, serve}},
		{"stop during start", false, []func(*scene.Scene) []string{serve, stop}},
		{"viewer during stop", true, []func(*scene.Scene) []string{stop, viewer}},
		{"everything at once", true, []func(*scene.Scene) []string{stop, serve, viewer, revoke, stop, viewer, serve}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := scene.New(t)
			s.SignIn(true)
			if !row.served {
				s.Stop()
			}
			var wait sync.WaitGroup
			for _, words := range row.verbs {
				wait.Go(func() {
					_, err := s.Stage.Verb(scene.Limit(t, 2*time.Minute), words(s)...)
					var refused *stage.Refused
					if err != nil && (!errors.As(err, &refused) || refused.Code != 75 && refused.Code != 1) {
						t.Errorf("%v: %v", words(s), err)
					}
				})
			}
			wait.Wait()
			if n := len(s.All("chrome")); n > 1 {
				t.Errorf("%d Chromes run", n)
			}
			s.Stop()
			s.Alone(s.Service(), soon)
			s.Kept(true)
		})
	}
}

// Two seats of one machine: the port that one was given stays its own while it rests and the other is given one.
func TestTwoSeats(t *testing.T) {
	a, b := scene.New(t), scene.New(t)
	a.Serve("/login")
	first := a.Mint("local").Link
	a.Ends()
	b.Serve("/login")
	b.Mint("local")
	a.Serve("/login")
	front := func(link string) string { return link[:len("http://127.0.0.1:6080")] }
	if again := a.Mint("local").Link; front(again) != front(first) {
		t.Errorf("the port changed: %s, then %s", front(first), front(again))
	}
}
