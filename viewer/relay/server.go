package relay

import (
	"context"
	"net"
	"net/http"
	"time"
)

// Server is an http.Server for a relay with limits against slow clients. A step that takes longer sets its own limit; a stream
// has the bridge's. The caller serves on a listener of its own, and shuts down the server before it closes the relay.
func Server(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ConnContext:       withConn,
	}
}

type connKey struct{}

// withConn keeps the connection of a request, for who is at its other end.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

func connOf(req *http.Request) net.Conn {
	c, _ := req.Context().Value(connKey{}).(net.Conn)
	return c
}
