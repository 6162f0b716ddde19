package rfb

import (
	"bufio"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
)

// Opcodes and bits of a frame's first byte (RFC 6455, 5.2).
const (
	Fin    = 0x80
	Text   = 0x1
	Binary = 0x2
	Close  = 0x8
	Ping   = 0x9
	Pong   = 0xA
)

// CloseError is the close frame of the other end.
type CloseError struct {
	Code   int
	Reason string
}

func (e *CloseError) Error() string { return fmt.Sprintf("closed: %d %s", e.Code, e.Reason) }

// Websocket is a client's websocket as a stream of bytes: every Write is one binary message. One goroutine may read while
// others write. Pings are answered by Read, unless Silent is set before.
type Websocket struct {
	Silent bool
	Pings  int // how many came; read it from the reading goroutine

	conn   net.Conn
	r      *bufio.Reader
	remain int64 // of the data frame that is being read
	mu     sync.Mutex
}

// DialWebsocket asks for url ("http://HOST/PATH") over conn, which is the websocket's from then on. A refusal gives the
// response, its body unread, and an error.
func DialWebsocket(conn net.Conn, url string, header http.Header) (*Websocket, *http.Response, error) {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return nil, nil, err
	}
	var key [16]byte
	rand.Read(key[:])
	for name, values := range header {
		req.Header[name] = values
	}
	if host := header.Get("Host"); host != "" {
		req.Host = host
		req.Header.Del("Host")
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "websocket")
	req.Header.Set("Sec-WebSocket-Version", "13")
	req.Header.Set("Sec-WebSocket-Key", base64.StdEncoding.EncodeToString(key[:]))
	if err := req.Write(conn); err != nil {
		return nil, nil, err
	}
	r := bufio.NewReaderSize(conn, 64<<10)
	resp, err := http.ReadResponse(r, req)
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		return nil, resp, fmt.Errorf("the answer is %s", resp.Status)
	}
	return &Websocket{conn: conn, r: r}, resp, nil
}

// Read reads payload of binary messages.
func (w *Websocket) Read(p []byte) (int, error) {
	for w.remain == 0 {
		if err := w.header(); err != nil {
			return 0, err
		}
	}
	n, err := w.r.Read(p[:min(int64(len(p)), w.remain)])
	w.remain -= int64(n)
	return n, err
}

// header reads frames up to the payload of the next data frame.
func (w *Websocket) header() error {
	head, err := take(w.r, 2)
	if err != nil {
		return err
	}
	n := int64(head[1])
	switch n {
	case 126:
		ext, err := take(w.r, 2)
		if err != nil {
			return err
		}
		n = int64(binary.BigEndian.Uint16(ext))
	case 127:
		ext, err := take(w.r, 8)
		if err != nil {
			return err
		}
		n = int64(binary.BigEndian.Uint64(ext))
	}
	if head[0]&0xf < Close {
		w.remain = n
		return nil
	}
	return w.control(head[0]&0xf, n)
}

func (w *Websocket) control(opcode byte, n int64) error {
	data, err := take(w.r, int(n))
	if err != nil {
		return err
	}
	switch {
	case opcode == Close && n >= 2:
		return &CloseError{int(binary.BigEndian.Uint16(data)), string(data[2:])}
	case opcode == Close:
		return &CloseError{Code: 1005}
	case opcode == Ping:
		if w.Pings++; !w.Silent {
			return w.Frame(Fin|Pong, data)
		}
	}
	return nil
}

// Write sends p as one binary message.
func (w *Websocket) Write(p []byte) (int, error) {
	return len(p), w.Frame(Fin|Binary, p)
}

// Frame sends one masked frame with that first byte.
func (w *Websocket) Frame(first byte, p []byte) error {
	var head []byte
	switch {
	case len(p) < 126:
		head = []byte{first, 0x80 | byte(len(p))}
	case len(p) < 1<<16:
		head = binary.BigEndian.AppendUint16([]byte{first, 0x80 | 126}, uint16(len(p)))
	default:
		head = binary.BigEndian.AppendUint64([]byte{first, 0x80 | 127}, uint64(len(p)))
	}
	var mask [4]byte
	rand.Read(mask[:])
	frame := append(append(head, mask[:]...), p...)
	for i := range p {
		frame[len(head)+4+i] ^= mask[i&3]
	}
	return w.Raw(frame)
}

// Raw sends bytes as they are.
func (w *Websocket) Raw(p []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.conn.Write(p)
	return err
}

// Leave closes in good order and waits for the other end to close.
func (w *Websocket) Leave() error {
	if err := w.Frame(Fin|Close, []byte{1000 >> 8, 1000 & 0xff}); err != nil {
		return err
	}
	io.Copy(io.Discard, w.conn)
	return w.conn.Close()
}

// Conn is the connection below.
func (w *Websocket) Conn() net.Conn { return w.conn }

// Close drops the connection without a word.
func (w *Websocket) Close() error { return w.conn.Close() }
