// Package rfb plays both far ends of a view in tests and benches: a VNC server that shows nothing and notes what it
// is told (Source), and a VNC client that counts what it gets (Client), over any stream, for example a Websocket of its own.
//
// It is written from RFC 6143 and RFC 6455 alone and shares no code with the bridge, so that a mistake there does not
// meet the same mistake here. It trusts both ends and refuses little. Errors are plain; lengths are bytes.
package rfb

import (
	"encoding/binary"
	"fmt"
	"io"
)

const banner = "RFB 003.008\n"

// Message is one message of a client, whole; its first byte is the type. Of a ClientCutText it holds the text too.
type Message []byte

// Type is the message's type.
func (m Message) Type() byte { return m[0] }

// readMessage reads one message of a client.
func readMessage(r io.Reader) (Message, error) {
	m := make(Message, 1, 20)
	if _, err := io.ReadFull(r, m); err != nil {
		return nil, err
	}
	head, ok := map[byte]int{0: 20, 2: 4, 3: 10, 4: 8, 5: 6, 6: 8, 150: 10, 248: 9, 250: 4, 251: 8, 255: 12}[m[0]]
	if !ok {
		return nil, fmt.Errorf("message type %d", m[0])
	}
	if err := m.more(r, head-1); err != nil {
		return nil, err
	}
	return m, m.more(r, m.tail())
}

// tail is how many bytes follow the fixed part.
func (m Message) tail() int {
	switch m[0] {
	case 2:
		return 4 * int(binary.BigEndian.Uint16(m[2:]))
	case 6:
		n := int(int32(binary.BigEndian.Uint32(m[4:])))
		return max(n, -n)
	case 248:
		return int(m[8])
	case 251:
		return 16 * int(m[6])
	}
	return 0
}

func (m *Message) more(r io.Reader, n int) error {
	start := len(*m)
	*m = append(*m, make([]byte, n)...)
	_, err := io.ReadFull(r, (*m)[start:])
	return err
}
