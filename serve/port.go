package serve

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/safefile"
	"github.com/5dive/browser/viewer/bridge"
	"github.com/5dive/browser/viewer/relay"
)

// Ports of seats: one is chosen once, stored, and then fixed; 6080 for the first user of a machine, the next for the next, so that two seats
// of which one rests do not choose the same. A port that somebody else holds is a refusal: another port, chosen silently, would send a
// person to whoever holds the old one.
const firstPort, lastPort = 6080, 6279

// port is the seat's loopback listener: RFB in a websocket on any path, for an outside relay; in the embedded default also the pages of
// our own relay. It is bound when the first link is minted and held until the service ends.
type port struct {
	service  *Service
	given    net.Listener // of a unit
	embedded bool

	mu      sync.Mutex
	number  int
	server  *http.Server
	gone    chan struct{}
	relay   *relay.Relay // embedded only
	waiting bridge.Limit
}

// bound makes sure that the port is ours and answers.
func (p *port) bound() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server != nil {
		return nil
	}
	l := p.given
	if l == nil {
		n, err := p.choose()
		if err != nil {
			return err
		}
		if l, err = listenLoopback(n); err != nil {
			return err
		}
	}
	p.number = l.Addr().(*net.TCPAddr).Port
	handler, err := p.handler()
	if err != nil {
		l.Close()
		return err
	}
	p.server = relay.Server(handler)
	p.gone = make(chan struct{})
	server, gone := p.server, p.gone
	go func() {
		defer close(gone)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			logf("the view's port broke: %v", err)
		}
	}()
	return nil
}

// listenLoopback binds the literal address, so that no name leads to somebody else's listener.
func listenLoopback(n int) (net.Listener, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(n))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fault.New(fault.Busy, "cannot open the view's port: 127.0.0.1:%d is held by another process", n).
			Try("ss -lntp 'sport = :%d'", n)
	}
	if err != nil {
		return nil, fault.New(fault.Failed, "cannot open the view's port: %w", err)
	}
	return l, nil
}

func (p *port) path() string { return filepath.Join(p.service.config.Seat.State(), "port") }

// choose gives the stored port, or stores the first from the seat's own on that is free now.
func (p *port) choose() (int, error) {
	b, err := safefile.Read(p.path(), 16)
	if err == nil {
		n, err := strconv.Atoi(strings.TrimSpace(string(b)))
		if err != nil || n < firstPort || n > lastPort {
			return 0, fault.New(fault.Config, "cannot use the port in %s: want a number from %d to %d", p.path(), firstPort, lastPort)
		}
		return n, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return 0, fault.New(fault.Denied, "cannot read the seat's port: %w", err)
	}
	const ports = lastPort - firstPort + 1
	for i := range ports {
		n := firstPort + (p.service.config.Seat.UID+i)%ports // 6080 for uid 1000
		l, err := listenLoopback(n)
		if err != nil {
			continue
		}
		l.Close()
		return n, safefile.Replace(p.path(), []byte(strconv.Itoa(n)+"\n"), 0o600)
	}
	return 0, fault.New(fault.Busy, "cannot choose a port for the view: 127.0.0.1:%d to %d are all held", firstPort, lastPort)
}

// target is what an outside relay connects to.
func (p *port) target() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server == nil {
		return "", fault.New(fault.Failed, "cannot redeem the link: it was used, has expired, or is not for this session")
	}
	return fmt.Sprintf("127.0.0.1:%d", p.number), nil
}

func (p *port) close() {
	p.mu.Lock()
	server, gone, pages := p.server, p.gone, p.relay
	p.mu.Unlock()
	if server != nil {
		shutdown(server)
		<-gone
	}
	if pages != nil {
		pages.Close()
	}
}

// handler is what the port answers: our relay's pages in the embedded default, and the websocket of an outside relay.
func (p *port) handler() (http.Handler, error) {
	outside := http.HandlerFunc(p.carry)
	if !p.embedded {
		return outside, nil
	}
	pages, err := p.service.pages(p.number)
	if err != nil {
		return nil, err
	}
	p.relay = pages
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if strings.EqualFold(req.Header.Get("Upgrade"), "websocket") && !strings.HasPrefix(req.URL.Path, "/v/") {
			outside(w, req)
			return
		}
		pages.ServeHTTP(w, req)
	}), nil
}

// carry takes an outside relay's websocket: literal Host, no Origin but listed ones, then the password of a view.
func (p *port) carry(w http.ResponseWriter, req *http.Request) {
	leave, ok := p.waiting.Enter(req)
	if !ok {
		http.Error(w, "too many connections wait for a password", http.StatusServiceUnavailable)
		return
	}
	defer leave()
	hosts := []string{fmt.Sprintf("127.0.0.1:%d", p.number)}
	ws, err := bridge.Upgrader{Hosts: hosts, Origins: p.service.box.Origins}.Upgrade(w, req)
	if err != nil {
		return // the upgrader has answered
	}
	if err := p.service.views.CarryPassword(p.service.ctx, ws, bridge.Options{Opened: leave}); err != nil {
		logf("a view by password ended: %v", err)
	}
}
