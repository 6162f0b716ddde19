package serve

import (
	"github.com/5dive/browser/browser"
	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/seat"
	"github.com/5dive/browser/serve/api"
)

// remove deletes a profile and with it the login. One that somebody uses is Busy and stays.
func (s *Service) remove(c *call) (any, error) {
	var q api.SiteRequest
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	site, err := seat.ParseSite(q.Site)
	if err != nil {
		return nil, err
	}
	if err := s.config.Seat.Audit(); err != nil {
		return nil, err
	}
	if err := s.config.Seat.CheckRemove(site); err != nil { // not the audit of the profile: one that fails it may go
		return nil, err
	}
	p, err := s.take(c.ctx, site)
	if err != nil {
		return nil, err
	}
	defer p.give()
	if err := p.remove(c); err != nil {
		return nil, err
	}
	s.note(seat.Removed, site.ID(), nil)
	return api.RemoveResult{Site: site.ID(), Removed: true}, nil
}

// remove does so under the turn, which the caller holds.
func (p *profile) remove(c *call) error {
	s := p.service
	if state := p.State(); state != Stopped {
		return fault.New(fault.Busy, "cannot remove profile %s: it is %s", p.site, state).Try("5dive browser serve %s --stop", p.site)
	}
	if view, ok := s.views.Of(p.site.ID()); ok {
		return fault.New(fault.Busy, "cannot remove profile %s: its view is %s", p.site, view.Phase()).
			Try("5dive browser viewer-revoke %s", p.site)
	}
	lock, err := p.lock(c.ctx, c.progress) // ends and forgets what a killed keeper left
	if err != nil {
		return err
	}
	lock.Close() // seat.Remove takes it again; within this seat only the holder of the turn does
	if pid, _ := browser.Holder(s.config.Seat.Chrome(p.site)); pid != 0 {
		return fault.New(fault.Busy, "cannot remove profile %s: process %d, a browser, runs on it", p.site, pid)
	}
	s.unwish(p.site.ID()) // first: a service that dies between the two must not make the profile again
	return s.config.Seat.Remove(p.site)
}
