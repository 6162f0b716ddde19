package serve

import (
	"context"
	"time"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/secret"
	"github.com/5dive/browser/seat"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/viewer"
)

// mint makes a one-time link. A site that is not served is served first: the link is for a browser that runs.
func (s *Service) mint(c *call) (any, error) {
	var q api.ViewerRequest
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	site, err := seat.ParseSite(q.Site)
	if err != nil {
		return nil, err
	}
	asked := viewer.Request{Site: site.ID(), Bind: q.Bind, Note: q.Note, TTL: time.Duration(q.TTL) * time.Second}
	if err := s.views.Check(asked); err != nil { // first: wrong words start no browser and make no profile
		return nil, err
	}
	site, r, err := s.servable(api.ServeRequest{Site: q.Site})
	if err != nil {
		return nil, err
	}
	base, err := s.base()
	if err != nil {
		return nil, err
	}
	p, err := s.take(c.ctx, site)
	if err != nil {
		return nil, err
	}
	defer p.give()
	if _, err := p.ensureServed(c, r); err != nil {
		return nil, err
	}
	run := p.running()
	if run == nil {
		return nil, fault.New(fault.Failed, "cannot mint a link for %s: its browser has just ended", site).Try("the same again")
	}
	if err := s.port.bound(); err != nil {
		return nil, err
	}
	view, nonce, err := s.views.Mint(c.ctx, asked, run)
	if err != nil {
		return nil, err
	}
	left, _, _ := view.Left()
	return api.ViewerResult{
		Site: site.ID(), View: view.ID, Bind: q.Bind, Server: view.Server, Expires: seconds(left), Nonce: nonce.Reveal(),
		Link: base + "/v/" + s.config.Seat.Name + "/" + view.ID + "#" + nonce.Reveal(),
	}, nil
}

// redeem spends a link for an outside relay, which knows only the site.
func (s *Service) redeem(c *call) (any, error) {
	var q api.RedeemRequest
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	site, err := seat.ParseSite(q.Site)
	if err != nil {
		return nil, err
	}
	target, err := s.port.target()
	if err != nil {
		return nil, err
	}
	_, password, err := s.views.Redeem(c.ctx, site.ID(), secret.New(q.Nonce), q.Session)
	if err != nil {
		return nil, err
	}
	return api.RedeemResult{Target: target, Password: password.Reveal()}, nil
}

func (s *Service) revoke(c *call) (any, error) {
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
	return api.RevokeResult{Site: site.ID(), Revoked: s.views.Revoke(site.ID())}, nil
}

// wait stays until a view has ended.
func (s *Service) wait(c *call) (any, error) {
	var q api.WaitRequest
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	view, ok := s.views.ByID(q.View)
	if !ok {
		return nil, fault.New(fault.Failed, "cannot wait for the view: there is none of that name")
	}
	if err := view.Wait(c.ctx); err != nil {
		return nil, err
	}
	how, state := view.End()
	return api.WaitResult{End: how, State: state}, nil
}

func (s *Service) peek(c *call) (any, error) {
	var q api.PeekRequest
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	p, server, err := s.views.Peek(q.View, q.Hash)
	if err != nil {
		return nil, err
	}
	return api.Peek{Site: p.Profile, Seat: p.Seat, Note: p.Note, Left: seconds(p.Left), Server: server}, nil
}

func (s *Service) enter(c *call) (any, error) {
	var q api.EnterRequest
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	view, token, err := s.views.Enter(c.ctx, q.View, secret.New(q.Nonce), q.Session)
	if err != nil {
		return nil, err
	}
	_, left, _ := view.Left()
	return api.EnterResult{Token: token.Reveal(), Left: seconds(left)}, nil
}

func (s *Service) viewState(c *call) (any, error) {
	_, left, idle := c.view.Left()
	how, _ := c.view.End()
	return api.ViewState{Site: c.view.Site, Phase: c.view.Phase(), End: how, Left: seconds(left), Idle: seconds(idle), Server: c.view.Server}, nil
}

func (s *Service) text(c *call) (any, error) {
	var q api.TextRequest
	if err := c.decode(&q); err != nil {
		return nil, fault.New(fault.Usage, "cannot read the text") // the cause would repeat a piece of it
	}
	text := secret.New(q.Text)
	if n := len(q.Text); n > api.MaxText {
		return nil, fault.New(fault.Usage, "cannot send the text: it has %d bytes, at most %d go at once", n, api.MaxText)
	}
	way, err := c.view.Text(c.ctx, text, q.Typed)
	if err != nil {
		return nil, err
	}
	return api.TextResult{Characters: len([]rune(q.Text)), Way: way}, nil
}

func (s *Service) size(c *call) (any, error) {
	var q api.SizeRequest
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	if q.Width < minSide || q.Height < minSide || q.Width > maxSide || q.Height > maxSide {
		return nil, fault.New(fault.Usage, "cannot set the size: want each side %d to %d pixels", minSide, maxSide)
	}
	w, h, err := c.view.Resize(q.Width, q.Height)
	if err != nil {
		return nil, err
	}
	return api.SizeResult{Width: w, Height: h}, nil
}

// done ends the view and the browser, and tells the person what became of the login. A person who leaves meanwhile changes nothing:
// what was begun is finished.
func (s *Service) done(c *call) (any, error) {
	if err := c.view.Save(); err != nil {
		return nil, err
	}
	site, err := seat.ParseSite(c.view.Site)
	if err != nil {
		return nil, err
	}
	ctx := context.WithoutCancel(c.ctx)
	p, err := s.take(ctx, site)
	if err != nil {
		return nil, err
	}
	defer p.give()
	_, killed := p.stop(c.progress)
	state := unprobed
	if killed {
		state = "UNKNOWN (the browser did not end by itself; the last half minute may be lost)"
	}
	c.view.Saved(state)
	return api.DoneResult{State: state, Saved: !killed}, nil
}

func (s *Service) cancelView(c *call) (any, error) {
	c.view.Cancel()
	return api.RevokeResult{Site: c.view.Site, Revoked: true}, nil
}

func seconds(d time.Duration) int { return int(d / time.Second) }
