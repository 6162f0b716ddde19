package bridge

import (
	"net/http"
	"slices"

	"github.com/gorilla/websocket"
)

// maxFrame is the longest message that a client may send. RFB clients send some hundred bytes at a time.
const maxFrame = 1 << 20

// Upgrader turns a GET into a websocket for RFB. Its zero value refuses everything.
type Upgrader struct {
	Hosts      []string // the Host headers that are right, exactly, port included
	Origins    []string // the Origin headers that are right, exactly; empty: only requests without one
	NeedOrigin bool     // refuse a request without Origin too: the caller must be a page of ours
}

// buffers are shared by all connections; a message longer than one goes out by writev, uncopied.
var upgrader = websocket.Upgrader{
	Subprotocols:    []string{"binary"}, // what noVNC once asked for; none is as good
	ReadBufferSize:  4 << 10,
	WriteBufferSize: 1 << 10,
	CheckOrigin:     func(*http.Request) bool { return true }, // checked before, by refused
}

// Upgrade answers the request: with 101 and a connection that the caller hands to Carry or CarryPassword, or with a
// refusal (421 for the Host, 403 for the Origin, 400, 405) and an error. Any path is right. Nothing is compressed.
func (u Upgrader) Upgrade(w http.ResponseWriter, r *http.Request) (*websocket.Conn, error) {
	if status := u.refused(r); status != 0 {
		http.Error(w, http.StatusText(status), status)
		return nil, websocket.HandshakeError{}
	}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return nil, err
	}
	Tune(ws.NetConn())
	ws.SetReadLimit(maxFrame)
	return ws, nil
}

// refused is the status to refuse r with, or 0. Origin is compared with a list, never with Host: a rebound name makes
// those two agree.
func (u Upgrader) refused(r *http.Request) int {
	if !slices.Contains(u.Hosts, r.Host) {
		return http.StatusMisdirectedRequest
	}
	origins := r.Header.Values("Origin")
	switch {
	case len(origins) == 0 && !u.NeedOrigin:
		return 0
	case len(origins) == 1 && slices.Contains(u.Origins, origins[0]):
		return 0
	}
	return http.StatusForbidden
}
