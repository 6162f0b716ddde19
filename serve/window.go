package serve

import (
	"context"
	"os"
	"time"

	"github.com/5dive/browser/browser"
	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/seat"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/serve/keeper"
)

// lent is a profile that a verb opens on the person's own display. The service prepared it and holds its lock; the verb runs Chrome and
// hands the profile back by stop, or by a connection that breaks.
type lent struct {
	lock    *os.File
	scratch string
	over    context.Context // ends when the profile is wanted back, or was handed back
	recall  func()
	ended   chan struct{} // closed when the profile is free
	killed  bool
}

func (p *profile) borrowed() *lent {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lent
}

// window lends a profile: a line {"window": ...}, then the call lasts until it is handed back.
func (s *Service) window(c *call) (any, error) {
	var q api.ServeRequest
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	site, r, err := s.servable(q)
	if err != nil {
		return nil, err
	}
	l, err := s.lend(c, site, r)
	if err != nil {
		return nil, err
	}
	<-l.ended
	return api.StopResult{Site: site.ID(), State: string(Stopped), Killed: l.killed}, nil
}

func (s *Service) lend(c *call, site seat.Site, r request) (*lent, error) {
	p, err := s.take(c.ctx, site)
	if err != nil {
		return nil, err
	}
	defer p.give()
	if state := p.State(); state != Stopped {
		return nil, fault.New(fault.Busy, "cannot open a window on %s: it is %s", site, state).
			Try("5dive browser serve %s --stop", site)
	}
	spec, lock, err := p.prepare(c.ctx, r, c.progress)
	if err != nil {
		return nil, err
	}
	fail := func(err error) (*lent, error) {
		lock.Close()
		os.RemoveAll(spec.Scratch)
		return nil, err
	}
	b := spec.Binary
	person := browser.Person{Binary: browser.Binary{Path: b.Path, Name: b.Name, Version: b.Version, Major: b.Major}, UserData: spec.UserData,
		Scratch: spec.Scratch, URL: spec.URL, TimeZone: spec.TimeZone, Locale: spec.Locale}
	if err := person.Prepare(); err != nil {
		return fail(err)
	}
	cmd, err := person.Command()
	if err != nil {
		return fail(err)
	}
	l := &lent{lock: lock, scratch: spec.Scratch, ended: make(chan struct{})}
	l.over, l.recall = context.WithCancel(c.ctx)
	p.mu.Lock()
	p.lent = l
	p.mu.Unlock()
	p.move(toLend)
	c.stream.line(api.Line{Window: &api.Window{Argv: cmd.Args, Env: cmd.Env, Dir: spec.Scratch}})
	s.use.Go(func() { p.hold(l) })
	return l, nil
}

// A verb that is killed may leave a Chrome behind that nothing shows yet: it is looked for so often, and for so long where none was ever seen.
const (
	lookAgain = 100 * time.Millisecond
	lateStart = 2 * time.Second
)

// hold keeps a lent profile until it is wanted back or its verb is gone.
func (p *profile) hold(l *lent) {
	defer context.AfterFunc(p.service.ctx, l.recall)()
	seen := p.chromeSeen(l.over)
	<-l.over.Done()
	if !seen {
		late, cancel := context.WithTimeout(context.Background(), lateStart)
		defer cancel()
		p.chromeSeen(late)
	}
	p.takeBack(l)
}

// chromeSeen waits until a Chrome runs on the profile.
func (p *profile) chromeSeen(ctx context.Context) bool {
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for {
		if pid, _ := browser.Holder(p.service.config.Seat.Chrome(p.site)); pid != 0 {
			return true
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return false
		}
	}
}

// takeBack makes sure that no Chrome runs on the profile before it is free: a verb that was killed leaves one behind.
func (p *profile) takeBack(l *lent) {
	if pid, ours := browser.Holder(p.service.config.Seat.Chrome(p.site)); ours {
		l.killed = keeper.End(pid)
	}
	l.lock.Close()
	os.RemoveAll(l.scratch)
	p.mu.Lock()
	p.lent = nil
	p.mu.Unlock()
	p.move(hasEnded)
	close(l.ended)
	p.service.drop(p)
}
