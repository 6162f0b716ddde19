package serve

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/serve/display"
	"github.com/5dive/browser/serve/keeper"
	"github.com/5dive/browser/viewer"
)

// Restarts of a crashed Chrome: the waits double from one second, and the sixth crash within ten minutes ends the profile.
const (
	crashLimit  = 5
	crashWindow = 10 * time.Minute
)

// run is one open keeper. It fulfils viewer.Screen.
type run struct {
	profile *profile
	handle  *keeper.Handle
	spec    keeper.Spec
	asked   request
	ready   chan error    // one answer: nil when the first window is mapped
	ended   chan struct{} // closed when the keeper has ended
	killed  bool          // Chrome had to be killed; read after ended

	mu        sync.Mutex // guards what follows
	stopping  bool
	number    int
	authority string
	vnc       *vncServer
	vncTurn   sync.Mutex // one start of a VNC server at a time
	crashes   []time.Time
}

// vncServer is a running VNC server, or the answer to a start.
type vncServer struct {
	socket, server string
	err            error
	known          chan struct{} // closed when the rest is known
}

func newRun(p *profile, h *keeper.Handle, spec keeper.Spec, asked request) *run {
	return &run{profile: p, handle: h, spec: spec, asked: asked, ready: make(chan error, 1), ended: make(chan struct{})}
}

// watch hears the keeper until it ends, and then clears up. It owns the restarts.
func (r *run) watch(tell func(string)) {
	defer context.AfterFunc(r.profile.service.ctx, r.stop)()
	var finished, ready bool
	for e := range r.handle.Events() {
		switch e.Event {
		case "progress":
			if !ready {
				tell(e.Text)
			}
		case "display":
			r.mu.Lock()
			r.number, r.authority = e.Number, e.Authority
			r.mu.Unlock()
		case "ready":
			ready = true
			r.opened()
		case "failed":
			r.profile.move(hasFailed)
			r.ready <- &fault.Error{Kind: fault.Kind(e.Kind), What: e.Text, Hint: e.Hint}
			ready = true
		case "chrome-exit":
			r.chromeEnded(e)
		case "vnc", "vnc-exit":
			r.vncAnswer(e)
		case "display-exit":
			r.profile.service.note("chrome_gave_up", r.profile.site.ID(), map[string]string{"why": "the display ended"})
		case "stopped":
			finished, r.killed = true, e.Killed
		}
	}
	if !finished { // the keeper was killed: nobody else will end its Chrome
		_, r.killed = keeper.Sweep(keeper.Left{Session: r.handle.PID, Scratch: r.spec.Scratch, UserData: r.spec.UserData})
	}
	if !ready {
		r.ready <- fault.New(fault.Failed, "cannot serve %s: its keeper ended", r.profile.site)
	}
	r.finish()
}

// opened makes the site one that is wanted, whether or not the caller is still there: whoever asks next finds it so.
func (r *run) opened() {
	p := r.profile
	p.service.wish(p.site.ID(), r.asked)
	p.service.note("served", p.site.ID(), map[string]string{"chrome": r.spec.Binary.Name + " " + r.spec.Binary.Version})
	p.move(isReady)
	r.ready <- nil
}

// finish leaves nothing of the run behind.
func (r *run) finish() {
	p := r.profile
	r.vncAnswer(keeper.Event{Event: "vnc-exit", Text: "the browser ended"})
	p.service.views.Stopped(p.site.ID())
	os.RemoveAll(r.spec.Scratch)
	p.forget()
	p.mu.Lock()
	p.run = nil
	p.mu.Unlock()
	p.move(hasEnded)
	p.service.note("stopped", p.site.ID(), map[string]string{"killed": yes(r.killed)})
	close(r.ended)
	p.service.drop(p)
}

// drop takes a stopped profile out of the map, unless somebody has its turn and will do so himself.
func (s *Service) drop(p *profile) {
	select {
	case <-p.turn:
		p.give()
	default:
	}
}

// stop orders the end, once.
func (r *run) stop() {
	r.mu.Lock()
	first := !r.stopping
	r.stopping = true
	r.mu.Unlock()
	if first {
		r.profile.move(toStop)
		r.handle.Stop()
	}
}

// chromeEnded decides what an end of Chrome means: a person who closed the last window, or a crash.
func (r *run) chromeEnded(e keeper.Event) {
	site := r.profile.site.ID()
	r.mu.Lock()
	stopping := r.stopping
	r.mu.Unlock()
	if stopping {
		return
	}
	r.profile.service.note("chrome_exit", site, map[string]string{"code": number(e.Code), "signal": e.Signal})
	if e.Code == 0 && e.Signal == "" { // the last window was closed
		if _, seen := r.profile.service.views.Of(site); !seen {
			r.profile.service.unwish(site)
			r.stop()
			return
		}
	}
	wait, ok := r.crashed(time.Now())
	if !ok {
		r.profile.service.note("chrome_gave_up", site, map[string]string{"why": "it ended too often"})
		r.profile.service.unwish(site)
		r.stop()
		return
	}
	r.profile.service.use.Go(func() { r.again(wait) })
}

// crashed counts an end and gives the time to wait before the next start; ok is false when it was one too many.
func (r *run) crashed(now time.Time) (wait time.Duration, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	recent := r.crashes[:0]
	for _, t := range r.crashes {
		if now.Sub(t) < crashWindow {
			recent = append(recent, t)
		}
	}
	r.crashes = append(recent, now)
	if len(r.crashes) > crashLimit {
		return 0, false
	}
	return time.Second << (len(r.crashes) - 1), true
}

// again starts Chrome after a wait.
func (r *run) again(wait time.Duration) {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		r.profile.service.note("chrome_restart", r.profile.site.ID(), nil)
		r.handle.Do(keeper.Command{Do: "chrome"})
	case <-r.ended:
	}
}

// VNC gives the VNC server of the display, started if none runs (viewer.Screen).
func (r *run) VNC(ctx context.Context) (socket, server string, err error) {
	r.vncTurn.Lock()
	defer r.vncTurn.Unlock()
	if v := r.vncRunning(); v != nil {
		return v.socket, v.server, nil
	}
	kind, err := r.profile.service.vncKind()
	if err != nil {
		return "", "", err
	}
	v := &vncServer{known: make(chan struct{})}
	r.mu.Lock()
	r.vnc = v
	r.mu.Unlock()
	if err := r.handle.Do(keeper.Command{Do: "vnc", Server: string(kind)}); err != nil {
		return "", "", fault.New(fault.Failed, "cannot start a VNC server: the browser of %s has ended", r.profile.site)
	}
	select {
	case <-v.known:
		return v.socket, v.server, v.err
	case <-r.ended:
		return "", "", fault.New(fault.Failed, "cannot start a VNC server: the browser of %s has ended", r.profile.site)
	case <-ctx.Done():
		return "", "", context.Cause(ctx)
	}
}

// vncRunning is the VNC server that runs, nil for none.
func (r *run) vncRunning() *vncServer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v := r.vnc; v != nil && v.socket != "" {
		return v
	}
	return nil
}

// vncAnswer hears that a VNC server runs, or has ended.
func (r *run) vncAnswer(e keeper.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.vnc
	if v == nil {
		return
	}
	select {
	case <-v.known: // it ran, and is gone
		r.vnc = nil
		return
	default:
	}
	if e.Event == "vnc" {
		v.socket, v.server = e.Socket, e.Server
	} else {
		v.err = vncFault(e)
	}
	close(v.known)
}

func vncFault(e keeper.Event) error {
	kind := fault.Kind(e.Kind)
	if !kind.Valid() {
		kind = fault.Failed
	}
	return &fault.Error{Kind: kind, What: "cannot start a VNC server: " + e.Text, Hint: e.Hint}
}

// EndVNC ends the VNC server (viewer.Screen).
func (r *run) EndVNC() {
	r.mu.Lock()
	r.vnc = nil
	r.mu.Unlock()
	r.handle.Do(keeper.Command{Do: "vnc-end"}) // a keeper that is gone has ended it
}

// Input reaches the keyboard of the display (viewer.Screen).
func (r *run) Input() (viewer.Input, error) {
	r.mu.Lock()
	n, auth := r.number, r.authority
	r.mu.Unlock()
	return display.Dial(n, auth)
}

// vncKind is the VNC server that the seat wants, else the best that is installed.
func (s *Service) vncKind() (display.Server, error) {
	settings, err := s.config.Seat.Settings()
	if err != nil {
		return "", err
	}
	installed := display.Servers()
	if len(installed) == 0 {
		return "", fault.New(fault.Missing, "cannot show a browser: neither X0tigervnc nor x11vnc is installed").
			Try("sudo apt-get install tigervnc-scraping-server")
	}
	if settings.VNC == "" {
		return installed[0], nil
	}
	for _, k := range installed {
		if string(k) == settings.VNC {
			return k, nil
		}
	}
	return "", fault.New(fault.Missing, "cannot show a browser: %s of settings.json is not installed", settings.VNC)
}
