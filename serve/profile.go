package serve

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/5dive/browser/browser"
	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/seat"
	"github.com/5dive/browser/serve/display"
	"github.com/5dive/browser/serve/keeper"
)

// profile is one profile that is not stopped, or is about to change. Whoever holds its turn may open or close it; the state may be
// read by anyone.
type profile struct {
	service *Service
	site    seat.Site
	turn    chan struct{} // holds one token

	mu    sync.Mutex // guards what follows
	state State
	run   *run  // Starting, Served, Stopping
	lent  *lent // Window
}

// profile finds or makes the entry of a site.
func (s *Service) profile(site seat.Site) *profile {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.open[site.ID()]
	if p == nil {
		p = &profile{service: s, site: site, turn: make(chan struct{}, 1), state: Stopped}
		p.turn <- struct{}{}
		s.open[site.ID()] = p
	}
	return p
}

// take waits for the turn. The caller gives it back.
func (s *Service) take(ctx context.Context, site seat.Site) (*profile, error) {
	for {
		p := s.profile(site)
		select {
		case <-p.turn:
			if s.current(p) {
				return p, nil
			}
			p.turn <- struct{}{} // the entry was dropped while we waited
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-s.ctx.Done():
			return nil, s.ending()
		}
	}
}

func (s *Service) current(p *profile) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[p.site.ID()] == p
}

// give gives the turn back; a stopped profile leaves the map.
func (p *profile) give() {
	p.service.mu.Lock()
	if p.State() == Stopped && p.service.open[p.site.ID()] == p {
		delete(p.service.open, p.site.ID())
	}
	p.service.mu.Unlock()
	p.turn <- struct{}{}
}

// State is where the profile stands now.
func (p *profile) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// move takes one step of the table. A step that the table lacks is our bug, told and not taken.
func (p *profile) move(c change) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	to, ok := next(p.state, c)
	if !ok {
		logf("profile %s: no step %s from %s", p.site, c, p.state)
		return false
	}
	p.state = to
	return true
}

func (p *profile) running() *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run
}

// request is what a serve asks for.
type request struct {
	url           string
	width, height int
}

// serve opens the profile for a person. The caller holds the turn; the state is Stopped. A caller who leaves does not end what has begun.
func (p *profile) serve(ctx context.Context, r request, tell func(string)) error {
	s := p.service
	spec, lock, err := p.prepare(ctx, r, tell)
	if err != nil {
		return err
	}
	if !p.move(toServe) {
		lock.Close()
		return fault.New(fault.Busy, "cannot serve %s: it is %s", p.site, p.State())
	}
	h, err := keeper.Start(s.config.Keeper, spec, lock)
	if err != nil {
		p.move(hasEnded)
		os.RemoveAll(spec.Scratch)
		return err
	}
	run := newRun(p, h, spec, r)
	p.mu.Lock()
	p.run = run
	p.mu.Unlock()
	p.remember(keeper.Left{Session: h.PID, Scratch: spec.Scratch, UserData: spec.UserData})
	s.use.Go(func() { run.watch(tell) })
	select {
	case err := <-run.ready:
		if err != nil {
			<-run.ended
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// prepare makes everything that a keeper needs, and takes the profile's lock. An error leaves nothing behind, and no profile that was not
// there: a full disk must not leave one to be listed.
func (p *profile) prepare(ctx context.Context, r request, tell func(string)) (keeper.Spec, *os.File, error) {
	fresh := errors.Is(p.service.config.Seat.Look(p.site), fs.ErrNotExist)
	spec, lock, err := p.furnish(ctx, r, tell)
	if err != nil && fresh {
		p.service.config.Seat.Unmake(p.site)
	}
	return spec, lock, err
}

func (p *profile) furnish(ctx context.Context, r request, tell func(string)) (keeper.Spec, *os.File, error) {
	s := p.service
	none := keeper.Spec{}
	settings, err := s.config.Seat.Settings()
	if err != nil {
		return none, nil, err
	}
	if err := display.CheckDirectory(); err != nil {
		return none, nil, err
	}
	binary, err := s.chromes.find(settings.Chrome)
	if err != nil {
		return none, nil, err
	}
	if err := s.config.Seat.Make(p.site); err != nil { // ends with the audit of the profile
		return none, nil, err
	}
	lock, err := p.lock(ctx, tell)
	if err != nil {
		return none, nil, err
	}
	if err := p.checkVersion(binary, tell); err != nil {
		lock.Close()
		return none, nil, err
	}
	if err := p.clearStale(); err != nil {
		lock.Close()
		return none, nil, err
	}
	scratch, err := makeScratch(s.config.Seat.Run())
	if err != nil {
		lock.Close()
		return none, nil, err
	}
	return keeper.Spec{
		Scratch: scratch, UserData: s.config.Seat.Chrome(p.site), URL: r.url, Width: r.width, Height: r.height,
		Binary:   keeper.Binary{Path: binary.Path, Name: binary.Name, Version: binary.Version, Major: binary.Major},
		TimeZone: settings.TimeZone, Locale: settings.Locale,
	}, lock, nil
}

// lock takes the profile's lock. A keeper whose service was killed still holds it while Chrome writes; that is waited for. What a killed
// keeper left is ended first.
func (p *profile) lock(ctx context.Context, tell func(string)) (*os.File, error) {
	said := false
	for again := time.NewTicker(50 * time.Millisecond); ; {
		lock, err := p.service.config.Seat.Lock(p.site)
		if err == nil {
			again.Stop()
			return lock, p.adopt(lock, tell)
		}
		if fault.Of(err) != fault.Busy || !p.remembered() {
			again.Stop()
			return nil, err
		}
		if !said {
			said = true
			tell("waiting for the browser of an earlier seat service to save its login")
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return nil, err
		case <-p.service.ctx.Done():
			again.Stop()
			return nil, p.service.ending()
		}
	}
}

// adopt ends a browser that outlived both its service and its keeper.
func (p *profile) adopt(lock *os.File, tell func(string)) error {
	left, ok := p.recall()
	if !ok {
		return nil
	}
	if found, killed := keeper.Sweep(left); found {
		tell("ended a browser that an earlier seat service left behind")
		p.service.note("adopted", p.site.ID(), map[string]string{"killed": yes(killed)})
	}
	removeScratch(p.service.config.Seat.Run(), left.Scratch)
	p.forget()
	if err := p.clearStale(); err != nil {
		lock.Close()
		return err
	}
	return nil
}

// clearStale clears the lock of a Chrome that is gone, and honours a live one. It is looked at from here: the keeper, in its user
// namespace, sees nothing of a Chrome that somebody else started. The caller holds the profile's lock.
func (p *profile) clearStale() error {
	cleared, err := browser.ClearStale(p.service.config.Seat.Chrome(p.site))
	if cleared {
		p.service.note("lock_cleared", p.site.ID(), nil)
	}
	return err
}

// checkVersion refuses an older Chrome than ran last, which would delete what it cannot read, and tells of another one.
func (p *profile) checkVersion(now browser.Binary, tell func(string)) error {
	record, err := p.service.config.Seat.Record(p.site)
	if err != nil {
		return err
	}
	last := browser.Binary{Path: record.Chrome, Name: record.Name, Version: record.Version, Major: record.Major}
	notice, err := browser.CheckVersion(last, now)
	if err != nil {
		return err
	}
	if notice != "" {
		tell(notice)
	}
	if last == now {
		return nil
	}
	record.Chrome, record.Name, record.Version, record.Major = now.Path, now.Name, now.Version, now.Major
	return p.service.config.Seat.SetRecord(p.site, record)
}

// stop ends whatever runs and waits for it, however long the caller stays: the site is wanted no more. The caller holds the turn.
func (p *profile) stop(tell func(string)) (already, killed bool) {
	p.service.unwish(p.site.ID()) // first, so that a service that dies meanwhile does not serve it again
	if l := p.borrowed(); l != nil {
		p.move(toStop)
		l.recall()
		<-l.ended
		return false, l.killed
	}
	run := p.running()
	if run == nil {
		return true, false
	}
	tell("closing the browser so that the login is written")
	run.stop()
	<-run.ended
	p.service.unwish(p.site.ID()) // it may have opened just then
	return false, run.killed
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
