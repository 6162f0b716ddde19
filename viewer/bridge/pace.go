package bridge

import (
	"encoding/binary"
	"sync"
	"time"
)

const (
	chunkLeast = 8 << 10
	chunkFirst = 32 << 10
	late       = 100 * time.Millisecond // more than that for one message is a slow line
	judged     = time.Second            // of a slow line, before its rate counts
	better     = 30 * time.Second       // until a finer picture is tried again
)

// JPEG quality as a client asks for it, one of the pseudo-encodings of rfbproto.
const coarsest, finest = -32, -23

// needs is what a line must carry, in bytes a second, for each quality; the best of all is what the client asked for.
var needs = []struct{ rate, quality int }{{1_000_000, 9}, {300_000, 5}, {100_000, 2}, {0, 0}}

// pace keeps the picture of a slow client young (case V05). It reads less of the VNC server at a time, since what was not
// read yet is still the server's to leave out, and repeats the client's own list of encodings with a coarser JPEG quality.
type pace struct {
	most  int // bytes of the next read; like the next four of the goroutine that writes to the client
	bytes int // what a slow line has taken
	took  time.Duration
	since time.Time // of the last change
	slow  bool      // since then

	mu    sync.Mutex // guards what follows
	step  int        // in needs
	asked []byte     // the client's newest list

	changed chan struct{} // holds one when the list is to be repeated
}

func newPace() *pace {
	return &pace{most: chunkFirst, since: time.Now(), changed: make(chan struct{}, 1)}
}

// sent is told how long the client took for n bytes.
func (p *pace) sent(n int, took time.Duration) {
	now := time.Now()
	switch {
	case took > late:
		p.most = max(chunkLeast, p.most/2)
		p.slow = true
		p.bytes, p.took = p.bytes+n, p.took+took
	case took < late/4:
		p.most = min(chunkSize, p.most*2)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	step := p.step
	if p.took > judged {
		rate := int(float64(p.bytes) / p.took.Seconds())
		p.bytes, p.took = 0, 0
		for step < len(needs)-1 && rate < needs[step].rate {
			step++
		}
	}
	if step == p.step && now.Sub(p.since) > better {
		if !p.slow {
			step = max(0, step-1)
		}
		p.since, p.slow = now, false
	}
	if step != p.step {
		p.step, p.since, p.slow = step, now, false
		p.tell()
	}
}

// ask is told the client's list as it went to the server.
func (p *pace) ask(list []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked[:0], list...)
	if p.step > 0 {
		p.tell()
	}
}

func (p *pace) tell() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// list is what to repeat, or nothing for a client that asked for no quality.
func (p *pace) list() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := append([]byte(nil), p.asked...)
	found := false
	for i := 4; i+4 <= len(out); i += 4 {
		if e := int32(binary.BigEndian.Uint32(out[i:])); e >= coarsest && e <= finest {
			binary.BigEndian.PutUint32(out[i:], uint32(min(e, int32(coarsest+needs[p.step].quality))))
			found = true
		}
	}
	if !found {
		return nil
	}
	return out
}
