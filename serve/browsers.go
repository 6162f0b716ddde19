package serve

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/seat"
	"github.com/5dive/browser/serve/api"
)

// Sizes of a screen, in pixels.
const (
	defaultWidth, defaultHeight = 1280, 800
	minSide, maxSide            = 200, 4096
)

func (s *Service) version(*call) (any, error) {
	return api.Version{Version: s.config.Version, PID: os.Getpid()}, nil
}

// serve opens a person's browser; one that is open is left as it is.
func (s *Service) serve(c *call) (any, error) {
	var q api.ServeRequest
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	site, r, err := s.servable(q)
	if err != nil {
		return nil, err
	}
	p, err := s.take(c.ctx, site)
	if err != nil {
		return nil, err
	}
	defer p.give()
	already, err := p.ensureServed(c, r)
	if err != nil {
		return nil, err
	}
	binary := ""
	if run := p.running(); run != nil {
		binary = run.spec.Binary.Name + " " + run.spec.Binary.Version
	}
	return api.ServeResult{Site: site.ID(), State: string(Served), Already: already, Chrome: binary}, nil
}

// servable checks a request before anything is made.
func (s *Service) servable(q api.ServeRequest) (seat.Site, request, error) {
	site, err := seat.ParseSite(q.Site)
	if err != nil {
		return site, request{}, err
	}
	r := request{url: site.URL(), width: defaultWidth, height: defaultHeight}
	if q.URL != "" {
		if r.url, err = pageURL(q.URL); err != nil {
			return site, r, err
		}
	}
	if q.Size != "" {
		if r.width, r.height, err = screenSize(q.Size); err != nil {
			return site, r, err
		}
	}
	return site, r, s.sound(site)
}

// sound is the audit before a verb: of the store, and of the profile where there is one.
func (s *Service) sound(site seat.Site) error {
	err := s.config.Seat.AuditProfile(site)
	if errors.Is(err, fs.ErrNotExist) && fault.Of(err) == fault.Usage {
		return nil
	}
	return err
}

// ensureServed opens the profile if it is stopped. The caller holds the turn.
func (p *profile) ensureServed(c *call, r request) (already bool, err error) {
	switch state := p.State(); state {
	case Served:
		return true, nil
	case Window:
		return false, fault.New(fault.Busy, "cannot serve %s: a window on this machine's display has it", p.site).
			Try("5dive browser serve %s --stop", p.site)
	case Starting, Stopping: // left by a caller who went away
		if run := p.running(); run != nil {
			if served, err := run.settled(c.ctx); served || err != nil {
				return served, err
			}
		}
	}
	return false, p.serve(c.ctx, r, c.progress)
}

// settled waits for a start that somebody else began, or for the end of a run that is stopping; served tells that it is open now.
func (r *run) settled(ctx context.Context) (served bool, err error) {
	select {
	case err := <-r.ready:
		r.ready <- err // for whoever asks next
		if err == nil && r.profile.State() == Served {
			return true, nil
		}
	case <-r.ended:
		return false, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	select {
	case <-r.ended:
		return false, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// stop ends a person's browser and keeps the profile.
func (s *Service) stop(c *call) (any, error) {
	var q api.SiteRequest
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	site, err := seat.ParseSite(q.Site)
	if err != nil {
		return nil, err
	}
	if err := s.known(site); err != nil {
		return nil, err
	}
	p, err := s.take(c.ctx, site)
	if err != nil {
		return nil, err
	}
	defer p.give()
	already, killed := p.stop(c.progress)
	return api.StopResult{Site: site.ID(), State: string(Stopped), Already: already, Killed: killed}, nil
}

// known refuses a profile that does not exist, and one that fails the audit.
func (s *Service) known(site seat.Site) error {
	if err := s.config.Seat.Audit(); err != nil {
		return err
	}
	return s.config.Seat.AuditProfile(site)
}

// list answers ls from stamps and from what is open; it opens nothing.
func (s *Service) list(c *call) (any, error) {
	var q api.ListRequest
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	if err := s.config.Seat.Audit(); err != nil {
		return nil, err
	}
	sites, err := s.sites(q.Site)
	if err != nil {
		return nil, err
	}
	out := api.ListResult{Seat: s.config.Seat.Name, Profiles: []api.Profile{}}
	for _, site := range sites {
		out.Profiles = append(out.Profiles, s.row(site))
	}
	return out, nil
}

// sites are all profiles, or the one that was asked for.
func (s *Service) sites(id string) ([]seat.Site, error) {
	if id == "" {
		return s.config.Seat.Sites()
	}
	site, err := seat.ParseSite(id)
	if err == nil {
		err = s.config.Seat.AuditProfile(site)
	}
	return []seat.Site{site}, err
}

// row is one profile of the list. One that is bad says so in its own row and hides no other. The audit of what a profile holds is for
// the verbs that use it.
func (s *Service) row(site seat.Site) api.Profile {
	row := api.Profile{Site: site.ID(), State: unprobed, Held: string(Stopped), Viewer: "none"}
	stamp, err := s.config.Seat.Stamp(site)
	if err := cmp.Or(s.config.Seat.Look(site), err); err != nil {
		row.State, row.Bad = unsound, api.NewError(err)
	}
	if stamp.Verdict != "" && row.Bad == nil {
		row.State = stamp.Verdict
	}
	if !stamp.LastAuthenticated.IsZero() {
		row.LastSeen = stamp.LastAuthenticated.UTC().Format(time.RFC3339)
	}
	s.mu.Lock()
	p := s.open[site.ID()]
	s.mu.Unlock()
	if p != nil {
		row.Held = string(p.State())
	}
	if v, ok := s.views.Of(site.ID()); ok {
		row.Viewer = v.Phase()
	}
	return row
}

// unsound is the verdict of a profile that fails the audit.
const unsound = "UNKNOWN (bad profile)"

// unprobed is the verdict of a profile that no probe has looked at.
const unprobed = "UNKNOWN (no probe has run)"

func screenSize(text string) (w, h int, err error) {
	a, b, ok := strings.Cut(text, "x")
	if ok {
		w, err = strconv.Atoi(a)
	}
	if ok && err == nil {
		h, err = strconv.Atoi(b)
	}
	if !ok || err != nil || w < minSide || h < minSide || w > maxSide || h > maxSide {
		return 0, 0, fault.New(fault.Usage, "cannot use size %.40q: want WxH in pixels, each side %d to %d", text, minSide, maxSide).
			Try("--size=%dx%d", defaultWidth, defaultHeight)
	}
	return w, h, nil
}
