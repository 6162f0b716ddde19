package rfb

import (
	"bytes"
	"crypto/des"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// ErrRefused is a wrong password, or a server that offers nothing that the client speaks.
var ErrRefused = errors.New("refused")

// Client is a VNC client behind its handshake. It does not read by itself: what the server sends is read from Stream.
type Client struct {
	Stream        io.ReadWriter
	Width, Height int
	Name          string
}

// Join ends the client's half of the RFB 3.8 handshake; password "" expects security None. On ErrRefused the stream
// stands before another try of Authenticate, if the server gives one.
func Join(stream io.ReadWriter, password string) (*Client, error) {
	return JoinVersion(stream, "003.008", password)
}

// JoinVersion is Join for a client of another version: 003.003, 003.007.
func JoinVersion(stream io.ReadWriter, version, password string) (*Client, error) {
	c := &Client{Stream: stream}
	if got, err := take(stream, 12); err != nil || string(got[:4]) != "RFB " {
		return nil, fmt.Errorf("banner %q: %w", got, err)
	}
	if _, err := io.WriteString(stream, "RFB "+version+"\n"); err != nil {
		return nil, err
	}
	if err := c.choose(version, password != ""); err != nil {
		return nil, err
	}
	if password != "" {
		if err := c.Authenticate(version, password); err != nil {
			return c, err
		}
	} else if results(version) {
		if got, err := take(stream, 4); err != nil || !bytes.Equal(got, make([]byte, 4)) {
			return nil, fmt.Errorf("security result %v: %w", got, err)
		}
	}
	return c, c.Init()
}

// results tells whether a version has results for None, and reasons: 3.8 and whatever is newer.
func results(version string) bool { return version != "003.003" && version != "003.007" }

// choose takes the one security type that is expected.
func (c *Client) choose(version string, password bool) error {
	want := byte(1)
	if password {
		want = 2
	}
	if version == "003.003" {
		if got, err := take(c.Stream, 4); err != nil || got[3] != want {
			return fmt.Errorf("%w: security type %v: %w", ErrRefused, got, err)
		}
		return nil
	}
	count, err := take(c.Stream, 1)
	if err != nil {
		return err
	}
	if types, err := take(c.Stream, int(count[0])); err != nil || !bytes.Contains(types, []byte{want}) {
		return fmt.Errorf("%w: security types %v: %w", ErrRefused, types, err)
	}
	_, err = c.Stream.Write([]byte{want})
	return err
}

// Authenticate answers one challenge. A wrong password is ErrRefused.
func (c *Client) Authenticate(version, password string) error {
	challenge, err := take(c.Stream, 16)
	if err != nil {
		return err
	}
	if _, err := c.Stream.Write(Response(challenge, password)); err != nil {
		return err
	}
	result, err := take(c.Stream, 4)
	if err != nil {
		return err
	}
	if result[3] == 0 {
		return nil
	}
	if !results(version) {
		return ErrRefused
	}
	size, err := take(c.Stream, 4)
	if err != nil {
		return err
	}
	why, err := take(c.Stream, int(binary.BigEndian.Uint32(size)))
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: %s", ErrRefused, why)
}

// Response is the answer to a challenge (RFC 6143, 7.2.2).
func Response(challenge []byte, password string) []byte {
	var key [8]byte
	copy(key[:], password)
	for i := range key {
		key[i] = bits.Reverse8(key[i])
	}
	block, err := des.NewCipher(key[:])
	if err != nil {
		panic(err)
	}
	response := make([]byte, 16)
	block.Encrypt(response, challenge)
	block.Encrypt(response[8:], challenge[8:])
	return response
}

// Init sends ClientInit and reads ServerInit.
func (c *Client) Init() error {
	if _, err := c.Stream.Write([]byte{1}); err != nil {
		return err
	}
	head, err := take(c.Stream, 24)
	if err != nil {
		return err
	}
	name, err := take(c.Stream, int(binary.BigEndian.Uint32(head[20:])))
	c.Width, c.Height, c.Name = int(binary.BigEndian.Uint16(head)), int(binary.BigEndian.Uint16(head[2:])), string(name)
	return err
}

// Send writes raw bytes.
func (c *Client) Send(p ...byte) error {
	_, err := c.Stream.Write(p)
	return err
}

// Key presses or releases a key.
func (c *Client) Key(sym uint32, down bool) error { return c.Send(Key(sym, down)...) }

// Pointer moves the pointer, with the buttons of mask down.
func (c *Client) Pointer(mask byte, x, y int) error { return c.Send(Pointer(mask, x, y)...) }

// Update asks for the whole picture.
func (c *Client) Update() error {
	return c.Send(3, 0, 0, 0, 0, 0, byte(c.Width>>8), byte(c.Width), byte(c.Height>>8), byte(c.Height))
}

// Key is a KeyEvent.
func Key(sym uint32, down bool) Message {
	m := Message{4, 0, 0, 0}
	if down {
		m[1] = 1
	}
	return binary.BigEndian.AppendUint32(m, sym)
}

// Pointer is a PointerEvent.
func Pointer(mask byte, x, y int) Message {
	return Message{5, mask, byte(x >> 8), byte(x), byte(y >> 8), byte(y)}
}

// Encodings is a SetEncodings.
func Encodings(list ...int32) Message {
	m := Message{2, 0, byte(len(list) >> 8), byte(len(list))}
	for _, e := range list {
		m = binary.BigEndian.AppendUint32(m, uint32(e))
	}
	return m
}

// CutText is a ClientCutText that claims length bytes and holds text.
func CutText(length int32, text string) Message {
	return append(binary.BigEndian.AppendUint32(Message{6, 0, 0, 0}, uint32(length)), text...)
}
