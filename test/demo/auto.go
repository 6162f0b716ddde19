package main

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"github.com/5dive/browser/browser"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/test/person"
	"github.com/5dive/browser/test/site"
)

// flushed is longer than Chrome keeps a cookie in memory before it is on disk.
const flushed = 36 * time.Second

// auto plays the person, then tries the login in every way that a box treats it.
func (s *show) auto(link string, cycles int) error {
	for _, part := range []func() error{
		func() error { return s.login(link) },
		func() error { return s.again("The browser was closed by Done and is started again") },
		s.afterKill,
		func() error { return s.cycle(cycles) },
	} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// login is what a person does with the link.
func (s *show) login(link string) error {
	chrome, err := browser.Find("")
	if err != nil {
		return err
	}
	c := person.Config{Binary: chrome.Path, Home: s.stage.Home(), Width: 1280, Height: 860}
	if syscall.Getuid() == 0 {
		c.UID, c.GID = s.stage.UID, s.stage.GID
	}
	p, err := person.New(s.ctx, c)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Visit(link); err != nil {
		return err
	}
	asked, err := p.Read("#fact-site", 20*time.Second)
	if err != nil {
		return err
	}
	note, err := p.Read("#fact-note", time.Second)
	if err != nil {
		return err
	}
	if asked != profile {
		return fmt.Errorf("the page names %q, want %q", asked, profile)
	}
	s.say("The person opened the link: the page asks about %s, with the note %q. Nothing is spent yet.", asked, note)
	if err := s.picture(p, "before"); err != nil {
		return err
	}
	if err := p.Press("#enter"); err != nil {
		return err
	}
	if err := p.Connected(); err != nil {
		return err
	}
	s.say("The person pressed the button: the link is spent and the remote screen is there.")
	if err := s.typing(p); err != nil {
		return err
	}
	return s.done(p)
}

// typing fills in the form through noVNC; the name's field has the focus when the page opens.
func (s *show) typing(p *person.Person) error {
	if err := p.Type(s.site.Name + "\t" + s.site.Password); err != nil {
		return err
	}
	if err := s.picture(p, "typing"); err != nil {
		return err
	}
	if err := p.Type("\r"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.ctx, 15*time.Second)
	defer cancel()
	login, err := s.site.WaitLogin(ctx, func(site.Login) bool { return true })
	if err != nil {
		return fmt.Errorf("the site saw no login: %w", err)
	}
	if !login.Right {
		return fmt.Errorf("the site saw a login with a wrong name or password: the keys did not arrive as they were typed")
	}
	if _, err := s.site.WaitRequest(ctx, "the account page, signed in", func(r site.Request) bool { return r.Path == "/account" && r.Session && r.Kept }); err != nil {
		return err
	}
	s.say("Name and password were typed through the viewer; the site saw the login and gave a session cookie and a persistent one.")
	return s.picture(p, "view")
}

func (s *show) done(p *person.Person) error {
	if err := p.Press("#done"); err != nil {
		return err
	}
	state, err := p.Read("#ended-state", 60*time.Second)
	if err != nil {
		return err
	}
	saved, err := p.Read("#ended-saved", time.Second)
	if err != nil {
		return err
	}
	if err := s.picture(p, "done"); err != nil {
		return err
	}
	s.say("The person pressed Done. The page says: %s; saved: %s.", state, saved)
	if saved != "Yes, on the box" {
		return fmt.Errorf("the browser did not end by itself")
	}
	return nil
}

func (s *show) picture(p *person.Person, name string) error {
	if s.shots == "" {
		return nil
	}
	return p.Shot(filepath.Join(s.shots, name+".png"))
}

// again starts the browser on the account page and asks the site's log whether the login is there: both cookies, and one page alone.
func (s *show) again(why string) error {
	if err := s.open(); err != nil {
		return err
	}
	s.say("%s: the site sees the session cookie and the persistent one. Nobody logged in again.", why)
	return nil
}

func (s *show) open() error {
	s.site.Forget()
	var served api.ServeResult
	if err := s.stage.JSON(s.ctx, &served, "serve", profile, "--url="+s.origin+"/account"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.ctx, 20*time.Second)
	defer cancel()
	r, err := s.site.WaitRequest(ctx, "the account page", func(r site.Request) bool { return r.Path == "/account" || r.Path == "/login" })
	if err != nil {
		return err
	}
	if r.Path != "/account" || !r.Session || !r.Kept {
		return fmt.Errorf("the login is lost: the site saw %s with session cookie %t and persistent cookie %t", r.Path, r.Session, r.Kept)
	}
	return nil
}

func (s *show) stop() error {
	var stopped api.StopResult
	if err := s.stage.JSON(s.ctx, &stopped, "serve", profile, "--stop"); err != nil {
		return err
	}
	if stopped.Killed {
		return fmt.Errorf("the browser had to be killed")
	}
	if pages := s.site.Pages(); len(pages) != 1 {
		return fmt.Errorf("the browser opened %d pages, want the one that was asked for: %v", len(pages), pages)
	}
	return nil
}

// afterKill kills the seat service with SIGKILL once Chrome has had time to write, and starts again.
func (s *show) afterKill() error {
	s.say("Waiting %d s, as long as Chrome may keep a cookie in memory, before the seat service is killed.", int(flushed.Seconds()))
	select {
	case <-time.After(flushed):
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
	pid, ok := s.stage.Service()
	if !ok {
		return fmt.Errorf("no seat service runs")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.ctx, 5*time.Second)
	defer cancel()
	if err := s.stage.Gone(ctx); err != nil {
		return fmt.Errorf("5 s after kill -9 of the seat service: %w", err)
	}
	s.say("The seat service was killed with -9; within 5 s its browser, display and VNC server had ended too.")
	return s.again("A new seat service serves the site again")
}

// cycle stops and starts the browser again and again.
func (s *show) cycle(n int) error {
	if n == 0 {
		return nil
	}
	for range n {
		if err := s.stop(); err != nil {
			return err
		}
		if err := s.open(); err != nil {
			return err
		}
	}
	s.say("After %d more stops and starts the site still sees both cookies, and each start opened one page: no old tab came back.", n)
	return s.stop()
}
