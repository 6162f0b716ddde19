// Command demo shows the product's main job on this machine, in plain words: a seat in a throwaway store, a demo site, a link for a
// person. With -auto a real headless Chromium plays the person, and the site's own log is the witness that the login is kept. Every step
// that does not happen ends the demo with 1. Nothing is left running.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/5dive/browser/browser"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/test/site"
	"github.com/5dive/browser/test/stage"
)

// profile is the name under which the demo site's login is kept; the site itself listens on loopback.
const profile = "harbour-post.example"

func main() {
	auto := flag.Bool("auto", false, "play the person too, and exit")
	binary := flag.String("binary", "bin/5dive", "the product")
	cycles := flag.Int("cycles", 20, "stop-start cycles at the end of -auto")
	shots := flag.String("shots", "", "directory for pictures of the viewer page")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *binary, *auto, *cycles, *shots)
	cancel()
	if err != nil {
		fmt.Fprintf(os.Stderr, "\nThe demo did not work: %v\n", err)
		os.Exit(1)
	}
}

// show is a demo under way.
type show struct {
	ctx    context.Context
	stage  *stage.Stage
	site   *site.Site
	origin string
	server string // the VNC server in use
	shots  string
	step   int
	began  time.Time
}

func (s *show) say(format string, args ...any) {
	s.step++
	fmt.Printf("%2d. [%5.1f s] %s\n", s.step, time.Since(s.began).Seconds(), fmt.Sprintf(format, args...))
}

func run(ctx context.Context, binary string, auto bool, cycles int, shots string) (err error) {
	binary, err = filepath.Abs(binary)
	if err != nil {
		return err
	}
	copied, remove, err := reachable(binary)
	if err != nil {
		return err
	}
	defer remove()
	s := &show{ctx: ctx, site: site.New(site.Config{}), shots: shots, began: time.Now()}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s.site}
	go server.Serve(l)
	defer server.Close()
	s.origin = "http://" + l.Addr().String()
	s.say("The demo site, Harbour Post, listens on %s. Its own log will be the witness.", s.origin)
	if s.stage, err = stage.New(copied); err != nil {
		return err
	}
	defer func() {
		if end := s.end(); err == nil {
			err = end
		}
	}()
	s.say("A seat for user %s is in the throwaway store %s; no systemd is needed.", s.stage.User, s.stage.Root)
	link, err := s.serve()
	if err != nil {
		return err
	}
	if auto {
		return s.auto(link, cycles)
	}
	return s.wait(link)
}

// reachable copies the binary where the demo's user may run it: a checkout often lies below a closed home.
func reachable(binary string) (path string, remove func(), err error) {
	dir, err := os.MkdirTemp("/tmp", "5dbin")
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	data, err := os.ReadFile(binary)
	if err == nil {
		path = filepath.Join(dir, "5dive")
		if err = os.Chmod(dir, 0o755); err == nil {
			err = os.WriteFile(path, data, 0o755)
		}
	}
	if err != nil {
		remove()
		return "", nil, fmt.Errorf("cannot use the product: %w (make builds it)", err)
	}
	return path, remove, nil
}

// serve opens the browser on a display of its own and mints a link.
func (s *show) serve() (link string, err error) {
	chrome, err := browser.Find("")
	if err != nil {
		return "", err
	}
	var served api.ServeResult
	if err := s.stage.JSON(s.ctx, &served, "serve", profile, "--url="+s.origin+"/login"); err != nil {
		return "", err
	}
	s.say("%s runs on a display of its own that no other user can reach, with no debugger (%s).", served.Chrome, chrome.Path)
	var view api.ViewerResult
	if err := s.stage.JSON(s.ctx, &view, "viewer", profile, "--bind=local", "--note=The demo asks you to sign in"); err != nil {
		return "", err
	}
	s.server = view.Server
	s.say("A one-time link is out, good for %d seconds and for a person on this machine; the VNC server in use is %s.", view.Expires, view.Server)
	return view.Link, nil
}

// wait lets a person use the link, until Ctrl-C.
func (s *show) wait(link string) error {
	fmt.Printf("\nOpen this link in a browser on this machine. It works once:\n\n    %s\n\n", link)
	if u, err := url.Parse(link); err == nil {
		fmt.Printf("From another machine: ssh -L %[1]s:127.0.0.1:%[1]s THIS-MACHINE, then the same link there.\n", u.Port())
	}
	fmt.Printf("Sign in as %q with the password %q, then press Done. Ctrl-C ends the demo and leaves nothing running.\n\n", s.site.Name, s.site.Password)
	told := 0
	for {
		seen := 0
		err := s.site.Wait(s.ctx, "a login", func() bool { seen = len(s.site.Logins()); return seen > told })
		if err != nil {
			return nil // Ctrl-C
		}
		for _, l := range s.site.Logins()[told:] {
			s.say("The site saw a login as %q: %s.", l.Name, map[bool]string{true: "right", false: "wrong name or password"}[l.Right])
		}
		told = seen
	}
}

// end leaves nothing running and says so.
func (s *show) end() error {
	err := s.stage.End()
	if err != nil {
		return fmt.Errorf("cannot end everything: %w", err)
	}
	s.say("Everything has ended: no browser, display or VNC server is left, the user and the store are gone.")
	return nil
}
