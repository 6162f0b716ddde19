package scene

import (
	"io"
	"net"
	"net/http"
	"time"

	"github.com/5dive/browser/internal/secret"
	"github.com/5dive/browser/serve"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/test/rfb"
)

// Enter spends a link as our own relay does and gives the view's token.
func (s *Scene) Enter(v api.ViewerResult) secret.Text {
	s.T.Helper()
	var r api.EnterResult
	q := api.EnterRequest{View: v.View, Nonce: v.Nonce, Session: v.Bind}
	if err := s.Client(serve.RoleRelay).Call(Limit(s.T, time.Minute), api.PathEnter, q, &r, nil); err != nil {
		s.T.Fatal(err)
	}
	return secret.New(r.Token)
}

// Stream opens the stream of an entered view. The caller closes the connection.
func (s *Scene) Stream(token secret.Text) (*rfb.Client, net.Conn) {
	s.T.Helper()
	client, conn, ok := s.TryStream(token)
	if !ok {
		s.T.Fatal("the stream of the view does not open")
	}
	return client, conn
}

// TryStream is Stream that may fail.
func (s *Scene) TryStream(token secret.Text) (*rfb.Client, net.Conn, bool) {
	s.T.Helper()
	c, err := s.Client(serve.RoleRelay).Dial(Limit(s.T, time.Minute))
	if err != nil {
		s.T.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(2 * time.Minute))
	ws, _, err := rfb.DialWebsocket(c, "http://seat"+api.PathStream, http.Header{api.TokenHeader: {token.Reveal()}})
	if err == nil {
		var client *rfb.Client
		if client, err = rfb.Join(ws, ""); err == nil {
			return client, c, true
		}
	}
	s.T.Logf("the stream: %v", err)
	c.Close()
	return nil, nil, false
}

// Look opens a view of what is served and waits for a piece of its picture.
func (s *Scene) Look() (secret.Text, *rfb.Client, net.Conn) {
	s.T.Helper()
	token := s.Enter(s.Mint("local"))
	client, conn := s.Stream(token)
	s.Picture(client)
	return token, client, conn
}

// Picture asks for the picture and reads the beginning of it.
func (s *Scene) Picture(client *rfb.Client) {
	s.T.Helper()
	err := client.Update()
	if err == nil {
		_, err = io.ReadFull(client.Stream, make([]byte, 64))
	}
	if err != nil {
		s.T.Fatalf("no picture: %v", err)
	}
}
