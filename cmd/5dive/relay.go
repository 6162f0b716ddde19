package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/5dive/browser/cmd/5dive/cli"
	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/seat"
	"github.com/5dive/browser/serve"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/viewer/relay"
)

// relayVerb serves people until ctx ends. What the words leave out stands in the box's configuration.
func relayVerb(ctx context.Context, r cli.Relay, report func(string)) error {
	if os.Geteuid() == 0 {
		return fault.New(fault.Denied, "cannot start the relay as root: it needs no right but its socket's").
			Try("sudo -u %s 5dive browser relay", serve.RelayUser)
	}
	box, err := serve.LoadBox()
	if err != nil {
		return err
	}
	r = settled(r, box)
	if r.PublicURL == "" {
		return fault.New(fault.Config, "cannot start the relay: it has no public URL").
			Try("5dive browser relay --public-url=https://HOST")
	}
	if (r.SessionHeader == "") != (r.ProxyUID < 0) {
		return fault.New(fault.Config, "cannot start the relay: a session header and the uid of the proxy that sets it go together")
	}
	handler, err := relay.New(relay.Config{PublicURL: r.PublicURL, Session: relay.Sessions(proxy(r)), Seat: seatClient})
	if err != nil {
		return err
	}
	defer handler.Close()
	l, err := net.Listen("tcp4", r.Listen)
	if err != nil {
		return cannotListen(r.Listen, err)
	}
	server := relay.Server(handler)
	stop := context.AfterFunc(ctx, func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if server.Shutdown(end) != nil {
			server.Close()
		}
	})
	defer stop()
	report("listening on " + l.Addr().String() + " for " + r.PublicURL)
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fault.New(fault.Failed, "the relay's listener broke: %w", err)
	}
	return nil
}

// cannotListen tells a port that is held, or is not for this user, from an address that is wrong: the configuration may name one.
func cannotListen(address string, err error) error {
	var wrong *net.AddrError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		_, port, _ := net.SplitHostPort(address)
		return fault.New(fault.Busy, "cannot listen on %s: another process holds it", address).Try("ss -lntp 'sport = :%s'", port)
	case errors.Is(err, syscall.EACCES):
		return fault.New(fault.Denied, "cannot listen on %s: this user may not", address).Try("5dive browser relay --listen=127.0.0.1:6078")
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.As(err, &wrong):
		return fault.New(fault.Config, "cannot listen on %s: it is no address of this machine", address)
	}
	return fault.New(fault.Failed, "cannot listen on %s: %w", address, err)
}

// settled fills in what the words left out. Without any word the relay listens on loopback: a proxy stands before it.
func settled(r cli.Relay, box serve.Box) cli.Relay {
	if r.Listen == "" {
		r.Listen = box.Listen
	}
	if r.Listen == "" {
		r.Listen = "127.0.0.1:6078"
	}
	if r.PublicURL == "" {
		r.PublicURL = box.PublicURL
	}
	if r.SessionHeader == "" {
		r.SessionHeader = box.Header
	}
	if r.ProxyUID < 0 && box.ProxyUID != nil {
		r.ProxyUID = *box.ProxyUID
	}
	return r
}

func proxy(r cli.Relay) *relay.Proxy {
	if r.SessionHeader == "" {
		return nil
	}
	return &relay.Proxy{Header: r.SessionHeader, UID: r.ProxyUID}
}

// seatClient reaches a seat by the relay's socket. A name that is no seat gets no client, and so the same answer as a wrong link.
func seatClient(name string) (*api.Client, bool) {
	s, err := seat.Named(os.Getenv(rootVariable), name)
	if err != nil {
		return nil, false
	}
	return serve.NewClient(s, serve.RoleRelay), true
}
