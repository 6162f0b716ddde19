// Package serve is the seat service: the only owner of a seat's browsers, displays and views. Every verb, the relay and later the
// agents' tools are clients of its sockets, so that there is one lock, one state and one answer for a profile, whoever asks.
//
// It owns: the routes with who may call each (route.go), the state machine of a profile (state.go), the wish that a site be served
// (wish.go). It refuses what has no rule, and writes nothing before the audit of the store has passed. Chrome and Xvfb run below a
// keeper (package keeper), which ends them well whatever way this process dies.
//
// It trusts the kernel's word on who called, the listener a call came by, and root. Errors are fault kinds.
package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/clock"
	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/seat"
	"github.com/5dive/browser/systemd"
	"github.com/5dive/browser/viewer"
)

// Config is one seat service. Keeper is the command line of the hidden keeper verb. Idle ends a service that nothing needs; zero is
// one minute.
type Config struct {
	Seat    seat.Seat
	Version string
	Keeper  []string
	Idle    time.Duration
	Clock   clock.Clock
}

// Service is a running seat service.
type Service struct {
	config  Config
	box     Box
	views   *viewer.Views
	port    *port
	chromes chromes
	ctx     context.Context // ends when the service ends
	cancel  context.CancelCauseFunc
	work    sync.WaitGroup // the sockets and the clock: until the service ends
	use     sync.WaitGroup // calls, and the browsers that they opened: what must have ended before the sockets close
	mu      sync.Mutex     // guards what follows
	open    map[string]*profile
	calls   int
	resting time.Time // since when nothing has been needed
	closing bool

	wishTurn sync.Mutex // one change of the wishes at a time
}

// Run serves a seat until ctx ends, or until nothing has been needed for a while. ready is called once the sockets accept. On
// the way out every browser is ended in order and waited for.
func Run(ctx context.Context, c Config, ready func()) error {
	if c.Clock == nil {
		c.Clock = clock.System
	}
	if c.Idle == 0 {
		c.Idle = time.Minute
	}
	// A core file would hold tokens, pictures and what was typed. Keepers, displays and VNC servers inherit the limit.
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fault.New(fault.Failed, "cannot switch core files off: %w", err)
	}
	if err := c.Seat.Ensure(); err != nil {
		return err
	}
	if err := c.Seat.Audit(); err != nil {
		return err
	}
	box, err := loadBox(c.Seat)
	if err != nil {
		return err
	}
	given, err := systemd.Listeners()
	if err != nil {
		return err
	}
	s := &Service{config: c, box: box, open: map[string]*profile{}, resting: time.Now()}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.views = viewer.New(viewer.Config{Seat: c.Seat.Name, Clock: c.Clock, Note: s.note})
	listeners, release, err := s.listen(given)
	if err != nil {
		return err
	}
	defer release()
	return s.run(ctx, listeners, ready)
}

var errIdle = errors.New("idle")

func (s *Service) run(ctx context.Context, listeners map[Role]net.Listener, ready func()) error {
	stop := context.AfterFunc(ctx, func() { s.cancel(context.Cause(ctx)) })
	defer stop()
	servers := s.serveRoles(listeners)
	s.work.Go(s.tick)
	s.use.Go(s.resume)
	ready()
	<-s.ctx.Done()
	s.close()
	s.use.Wait() // every browser hears of the end by s.ctx itself, one that is just being started too
	s.port.close()
	for _, server := range servers {
		shutdown(server)
	}
	s.work.Wait()
	if why := context.Cause(s.ctx); !errors.Is(why, errIdle) && !errors.Is(why, context.Canceled) {
		return why
	}
	return nil
}

// close lets no call begin any more.
func (s *Service) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
}

// ending refuses what would begin now.
func (s *Service) ending() error {
	return fault.New(fault.Busy, "cannot answer: the seat service is ending").Try("the same again")
}

// shutdown gives running answers a moment, then cuts them.
func shutdown(server *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		server.Close()
	}
}

// tick judges the clocks of views and the service's own rest, every second.
func (s *Service) tick() {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			s.views.Tick()
			s.rest()
		case <-s.ctx.Done():
			return
		}
	}
}

// rest ends the service when nothing has needed it for the idle time.
func (s *Service) rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls > 0 || len(s.open) > 0 || s.views.Living() > 0 {
		s.resting = time.Now()
		return
	}
	if time.Since(s.resting) > s.config.Idle && !s.closing {
		s.closing = true
		s.cancel(errIdle)
	}
}

// begin counts a running call: the service does not rest while one runs, and ends after it.
func (s *Service) begin() (end func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, false
	}
	s.calls++
	s.use.Add(1)
	return func() {
		defer s.use.Done()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls--
		s.resting = time.Now()
	}, true
}

// note writes one event. A journal that cannot be written is told on stderr and does not stop a person.
func (s *Service) note(name, site string, fields map[string]string) {
	if err := s.config.Seat.Note(seat.Event{Time: time.Now().UTC(), Name: name, Site: site, Fields: fields}); err != nil {
		logf("cannot write event %s: %v", name, err)
	}
}

func logf(format string, args ...any) {
	// stderr is the journal under systemd and .state/service.log else; it never gets a secret
	os.Stderr.WriteString(fault.New(fault.Failed, format, args...).Error() + "\n")
}
