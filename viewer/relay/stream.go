package relay

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/viewer/bridge"
)

const (
	upgradeLimit = 20 * time.Second // until the seat service has answered an upgrade
	writeLimit   = 60 * time.Second // until a write that the other end does not take ends the stream
	lingerLimit  = 10 * time.Second // for one direction, once the other has ended
)

// carried is one stream: the person's connection and that to the seat service.
type carried struct{ person, seat net.Conn }

func (c *carried) cut() {
	c.person.Close()
	c.seat.Close()
}

// stream carries a view. The person's websocket upgrade is asked of the seat service in his place, and from there on bytes
// go to and fro untouched: frames are made and checked by the browser and the bridge, not here.
func (r *Relay) stream(w http.ResponseWriter, req *http.Request, v visit) {
	key, ok := upgrade(w, req)
	if !ok {
		return
	}
	client, ok := r.config.Seat(v.seat)
	if !ok {
		fail(w, unknown)
		return
	}
	seat, buffered, protocol, err := dial(req, client, v, key)
	if err != nil {
		fail(w, err)
		return
	}
	defer seat.Close()
	person, waiting, err := http.NewResponseController(w).Hijack()
	if err != nil {
		refuse(w, http.StatusInternalServerError, fault.New(fault.Failed, "cannot carry a view over this connection"))
		return
	}
	defer person.Close()
	person.SetDeadline(time.Time{})
	seat.SetDeadline(time.Time{})
	bridge.Tune(person)
	c := &carried{person: person, seat: seat}
	if !r.hold(c) {
		return
	}
	defer r.drop(c)
	if err := switched(person, w.Header(), key, protocol); err == nil {
		c.carry(waiting.Reader, buffered)
	}
}

// upgrade checks that the request asks for a websocket, and gives its key.
func upgrade(w http.ResponseWriter, req *http.Request) (key string, ok bool) {
	h := req.Header
	key = h.Get("Sec-WebSocket-Key")
	nonce, err := base64.StdEncoding.DecodeString(key)
	if req.Method != http.MethodGet || !holds(h, "Connection", "upgrade") || !holds(h, "Upgrade", "websocket") ||
		h.Get("Sec-WebSocket-Version") != "13" || err != nil || len(nonce) != 16 || req.ContentLength > 0 {
		w.Header().Set("Upgrade", "websocket")
		refuse(w, http.StatusUpgradeRequired, fault.New(fault.Usage, "this address takes a websocket only"))
		return "", false
	}
	return key, true
}

// holds tells whether a list header has a token.
func holds(h http.Header, name, token string) bool {
	for _, value := range h.Values(name) {
		for part := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.TrimSpace(part), token) {
				return true
			}
		}
	}
	return false
}

// dial asks the seat service for the stream. Only what this function writes goes there: no header of the person's, no
// extension (compression costs more than it saves on pictures), and the token, which the person's browser never saw bare.
func dial(req *http.Request, client *api.Client, v visit, key string) (net.Conn, *bufio.Reader, string, error) {
	ctx, cancel := context.WithTimeout(req.Context(), upgradeLimit)
	defer cancel()
	conn, err := client.Dial(ctx)
	if err != nil {
		return nil, nil, "", fault.New(fault.Missing, "cannot reach the seat service: %w", err)
	}
	conn.SetDeadline(time.Now().Add(upgradeLimit))
	buffered, protocol, err := handshake(ctx, conn, holds(req.Header, "Sec-WebSocket-Protocol", "binary"), v.token, key)
	if err != nil {
		conn.Close()
		return nil, nil, "", err
	}
	return conn, buffered, protocol, nil
}

func handshake(ctx context.Context, conn net.Conn, binary bool, token, key string) (*bufio.Reader, string, error) {
	out, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://seat"+api.PathStream, nil)
	if err != nil {
		return nil, "", err
	}
	out.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Key": {key}, api.TokenHeader: {token}, "User-Agent": {""}}
	if binary {
		out.Header.Set("Sec-WebSocket-Protocol", "binary")
	}
	if err := out.Write(conn); err != nil {
		return nil, "", fault.New(fault.Missing, "cannot reach the seat service: %w", err)
	}
	buffered := bufio.NewReader(conn)
	resp, err := http.ReadResponse(buffered, out)
	if err != nil {
		return nil, "", fault.New(fault.Missing, "cannot reach the seat service: %w", err)
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		return nil, "", refusal(resp)
	}
	protocol := resp.Header.Get("Sec-WebSocket-Protocol")
	if resp.Header.Get("Sec-WebSocket-Accept") != accept(key) || (protocol != "" && (protocol != "binary" || !binary)) {
		return nil, "", fault.New(fault.Failed, "the seat service answered the upgrade wrongly")
	}
	return buffered, protocol, nil
}

// refusal reads why the seat service did not upgrade.
func refusal(resp *http.Response) error {
	defer resp.Body.Close()
	var line api.Line
	if json.NewDecoder(io.LimitReader(resp.Body, api.MaxText)).Decode(&line) == nil && line.Error != nil {
		return line.Error.Fault()
	}
	return fault.New(fault.Failed, "the view cannot be carried right now")
}

// accept is the answer to a websocket key (RFC 6455, 4.2.2).
func accept(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// switched writes the person's 101, security headers included.
func switched(person net.Conn, headers http.Header, key, protocol string) error {
	h := headers.Clone()
	h.Set("Upgrade", "websocket")
	h.Set("Connection", "Upgrade")
	h.Set("Sec-WebSocket-Accept", accept(key))
	if protocol != "" {
		h.Set("Sec-WebSocket-Protocol", protocol)
	}
	var head strings.Builder
	head.WriteString("HTTP/1.1 101 Switching Protocols\r\n")
	h.Write(&head)
	person.SetWriteDeadline(time.Now().Add(writeLimit))
	_, err := fmt.Fprintf(person, "%s\r\n", head.String())
	return err
}
