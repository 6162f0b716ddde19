package bridge

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// run parses in, cut into pieces of step bytes, and gives all that came of it.
func run(in []byte, step int, watch bool) (out []byte, keys []key, p parser, err error) {
	p.watch = watch
	for piece := range slices.Chunk(in, step) {
		for len(piece) > 0 {
			var pressed *key
			pressed, piece, err = p.parse(piece)
			if pressed != nil {
				keys = append(keys, *pressed)
			}
			if err != nil {
				return p.out, keys, p, err
			}
		}
	}
	return p.out, keys, p, nil
}

// FuzzParser holds the parser to what must be true of any client: it never panics, cutting changes nothing, it holds no more
// than one message, and what reaches the VNC server is whole messages of the few types that may.
func FuzzParser(f *testing.F) {
	f.Add([]byte{4, 1, 0, 0, 0, 0, 0, 65, 5, 1, 0, 1, 0, 2, 3, 0, 0, 0, 0, 0, 5, 0, 3, 32}, uint8(5), false)
	f.Add([]byte{2, 0, 0, 3, 0, 0, 0, 7, 0xc0, 0xa1, 0xe5, 0xce, 0xff, 0xff, 0xff, 0x11}, uint8(3), false)
	f.Add([]byte{6, 0, 0, 0, 0, 0, 0, 3, 'a', 'b', 'c', 6, 0, 0, 0, 255, 255, 255, 254, 'x', 'y', 5, 0, 0, 1, 0, 1}, uint8(1), true)
	f.Add([]byte{248, 0, 0, 0, 0x80, 0, 0, 0, 2, 'a', 'b', 251, 0, 4, 0, 3, 0, 0, 0, 250, 0, 1, 2, 150, 1, 0, 0, 0, 0, 0, 1, 0, 1}, uint8(7), false)
	f.Add([]byte{255, 0, 0, 1, 0, 0, 0, 65, 0, 0, 0, 30, 255, 1, 0, 0}, uint8(2), false)
	f.Add([]byte{0, 0, 0, 0, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0, 99}, uint8(11), false)
	f.Fuzz(func(t *testing.T, in []byte, cut uint8, watch bool) {
		out, keys, p, err := run(in, max(1, len(in)), watch)
		out2, keys2, _, err2 := run(in, int(cut)+1, watch)
		if !bytes.Equal(out, out2) || !slices.Equal(keys, keys2) || (err == nil) != (err2 == nil) {
			t.Fatalf("cutting changes the result:\n%v %v %v\n%v %v %v", out, keys, err, out2, keys2, err2)
		}
		if err != nil && !errors.Is(err, ErrClient) {
			t.Fatalf("error %v", err)
		}
		if len(p.held) > 4+4*maxEncodings+1 || p.skip > maxCutText {
			t.Fatalf("holds %d, skips %d", len(p.held), p.skip)
		}
		if watch && len(keys) > 0 {
			t.Fatal("a watcher pressed a key")
		}
		passes(t, out, watch)
	})
}

// passes checks what goes to the VNC server.
func passes(t *testing.T, out []byte, watch bool) {
	for len(out) > 0 {
		var n int
		switch out[0] {
		case 0:
			n = 20
		case 2:
			n = 4 + 4*int(binary.BigEndian.Uint16(out[2:]))
			for list := out[4:n]; len(list) > 0; list = list[4:] {
				if e := int32(binary.BigEndian.Uint32(list)); e == -1063131698 || e == -258 || e == -259 || e == -309 || e == -316 {
					t.Fatalf("encoding %d passes", e)
				}
			}
		case 3, 150:
			n = 10
		case 5:
			n = 6
			if watch {
				t.Fatal("a watcher moved the pointer")
			}
		case 248:
			n = 9 + int(out[8])
		default:
			t.Fatalf("message type %d passes", out[0])
		}
		out = out[n:]
	}
}

// FuzzClosing: a reason always fits a control frame, cut between characters.
func FuzzClosing(f *testing.F) {
	f.Add("why")
	f.Add("ä中🙂 and so on, longer than what a control frame can hold, which is one hundred and twenty-five bytes in all, code included 中中中中")
	f.Fuzz(func(t *testing.T, why string) {
		if _, got := closing(errors.New(why)); len(got) > 123 {
			t.Fatalf("reason of %d bytes", len(got))
		}
	})
}
