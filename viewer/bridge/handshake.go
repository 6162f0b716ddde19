package bridge

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"github.com/5dive/browser/internal/secret"
)

// banner is the version that both ends of the bridge speak.
const banner = "RFB 003.008\n"

// Security types of RFB (RFC 6143, 8.1.2).
const (
	securityNone = 1
	securityVNC  = 2
)

// check tells whether any view has a password for which matches holds, and remembers which.
type check func(matches func(secret.Text) bool) bool

// greet is the server's half of the handshake, up to the client's ClientInit. A nil check asks for no password. Clients
// that speak 3.3 or 3.7 are served in their way.
func (c *client) greet(ask check) error {
	last := time.Now().Add(4 * c.o.Handshake)
	if err := c.send([]byte(banner)); err != nil {
		return err
	}
	minor, err := c.version(last)
	if err != nil {
		return err
	}
	if err := c.security(minor, ask, last); err != nil {
		return err
	}
	if _, err := c.read(1, last); err != nil { // ClientInit; whether it would share is not its to say
		return err
	}
	c.open = true
	c.heard()
	return nil
}

// version reads the client's version: 3.3, 3.7 or 3.8. What is newer is 3.8, and any other counts as 3.3 (RFC 6143, 7.1.1).
func (c *client) version(last time.Time) (minor int, err error) {
	line, err := c.read(len(banner), last)
	if err != nil {
		return 0, err
	}
	minor, err = strconv.Atoi(string(line[8:11]))
	if string(line[:8]) != banner[:8] || line[11] != '\n' || err != nil || minor < 3 {
		return 0, fmt.Errorf("%w: not a version of RFB 3", ErrClient)
	}
	switch {
	case minor >= 8:
		return 8, nil
	case minor == 7:
		return 7, nil
	}
	return 3, nil
}

// security agrees on the one security type that there is, and ends it.
func (c *client) security(minor int, ask check, last time.Time) error {
	kind := byte(securityNone)
	if ask != nil {
		kind = securityVNC
	}
	if err := c.choose(minor, kind, last); err != nil {
		return err
	}
	if ask != nil {
		return c.password(minor, ask, last)
	}
	if minor < 8 {
		return nil // no result for None before 3.8
	}
	return c.send([]byte{0, 0, 0, 0})
}

// choose offers the security type; from 3.7 on the client says that it takes it.
func (c *client) choose(minor int, kind byte, last time.Time) error {
	if minor == 3 {
		return c.send([]byte{0, 0, 0, kind})
	}
	if err := c.send([]byte{1, kind}); err != nil {
		return err
	}
	choice, err := c.read(1, last)
	if err != nil {
		return err
	}
	if choice[0] != kind {
		return fmt.Errorf("%w: it chose a security type that was not offered", ErrClient)
	}
	return nil
}

// password asks until one is right or the tries of the connection are used up. A standard client leaves after the first
// wrong one; a new challenge each time leaves nothing to replay.
func (c *client) password(minor int, ask check, last time.Time) error {
	for range tries {
		sent := challenge()
		if err := c.send(sent[:]); err != nil {
			return err
		}
		got, err := c.read(len(sent), last)
		if err != nil {
			return err
		}
		response := [16]byte(got)
		if ask(func(p secret.Text) bool { return answered(sent, response, p) }) {
			return c.send([]byte{0, 0, 0, 0})
		}
		if err := c.send(failed(minor)); err != nil {
			return err
		}
	}
	return ErrPassword
}

// failed is the SecurityResult of a wrong password; from 3.8 on with a reason.
func failed(minor int) []byte {
	p := []byte{0, 0, 0, 1}
	if minor < 8 {
		return p
	}
	const why = "wrong password"
	return append(binary.BigEndian.AppendUint32(p, uint32(len(why))), why...)
}

// read takes n bytes of the handshake, for which the client has Options.Handshake, and not beyond last. The bytes are valid
// until the next read; what the client sent after them stays for later.
func (c *client) read(n int, last time.Time) ([]byte, error) {
	until := time.Now().Add(c.o.Handshake)
	if last.Before(until) {
		until = last
	}
	c.ws.SetReadDeadline(until)
	got := make([]byte, 0, n)
	for {
		take := min(n-len(got), len(c.in))
		got, c.in = append(got, c.in[:take]...), c.in[take:]
		if len(got) == n {
			return got, nil
		}
		if err := c.next(); err != nil {
			return nil, err
		}
	}
}
