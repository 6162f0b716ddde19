package line

import "sync"

// way is what is under way in one direction: a queue bounded in bytes.
type way struct {
	mu      sync.Mutex
	moved   *sync.Cond
	packets []packet
	held    int  // bytes
	ended   bool // nothing more comes
	stopped bool // nobody takes any more
}

func newWay() *way {
	w := &way{}
	w.moved = sync.NewCond(&w.mu)
	return w
}

// put waits until fewer than room bytes are under way; false if nobody takes any more.
func (w *way) put(p packet, room int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.held >= room && !w.stopped {
		w.moved.Wait()
	}
	if w.stopped {
		return false
	}
	w.packets, w.held = append(w.packets, p), w.held+len(p.data)
	w.moved.Broadcast()
	return true
}

// take waits for the next packet; false at the end.
func (w *way) take() (packet, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.packets) == 0 && !w.ended && !w.stopped {
		w.moved.Wait()
	}
	if len(w.packets) == 0 || w.stopped {
		return packet{}, false
	}
	p := w.packets[0]
	w.packets, w.held = w.packets[1:], w.held-len(p.data)
	w.moved.Broadcast()
	return p, true
}

func (w *way) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.moved.Broadcast()
}

func (w *way) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.moved.Broadcast()
}
