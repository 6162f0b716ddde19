package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// story is what goes to stderr beside the answer: plain lines, and on a terminal one line that moves while a verb waits. It is
// safe for concurrent use; close ends its goroutine.
type story struct {
	out      io.Writer
	terminal bool
	mu       sync.Mutex
	text     string // of the moving line, "" when there is none
	drawn    bool   // the moving line stands on the screen
	frame    int
	quit     chan struct{}
	done     chan struct{}
}

const frameEvery = 120 * time.Millisecond // a quick call ends before the first frame

const maxMoving = 72 // characters: a line that wraps could not be wiped

var frames = [...]string{"⠋", "⠙", "⠸", "⠴", "⠦", "⠇"}

func newStory(out io.Writer, getenv func(string) string) *story {
	file, ok := out.(*os.File)
	return &story{out: out, terminal: ok && isTerminal(file) && getenv("TERM") != "dumb"}
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// say prints one line.
func (s *story) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wipe()
	fmt.Fprintln(s.out, oneLine(fmt.Sprintf(format, args...)))
}

// progress takes a line of the seat service: the moving line on a terminal, a line of its own elsewhere.
func (s *story) progress(text string) {
	if !s.terminal {
		s.say("%s", text)
		return
	}
	s.mu.Lock()
	s.text = oneLine(text)
	if short := []rune(s.text); len(short) > maxMoving {
		s.text = string(short[:maxMoving])
	}
	s.mu.Unlock()
}

// busy begins the moving line; the function that it gives ends it.
func (s *story) busy(text string) (end func()) {
	if !s.terminal || s.quit != nil {
		return func() {}
	}
	s.progress(text)
	s.quit, s.done = make(chan struct{}), make(chan struct{})
	go s.move(s.quit, s.done)
	return s.close
}

func (s *story) move(quit, done chan struct{}) {
	defer close(done)
	tick := time.NewTicker(frameEvery)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
			s.draw()
		}
	}
}

func (s *story) draw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "\r\x1b[K%s %s", frames[s.frame%len(frames)], s.text)
	s.frame, s.drawn = s.frame+1, true
}

// clear takes the moving line off the screen until its next frame.
func (s *story) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wipe()
}

// wipe is clear for one who holds the lock.
func (s *story) wipe() {
	if s.drawn {
		fmt.Fprint(s.out, "\r\x1b[K")
		s.drawn = false
	}
}

// close ends the moving line and waits for its goroutine.
func (s *story) close() {
	if s.quit == nil {
		return
	}
	close(s.quit)
	<-s.done
	s.quit, s.done = nil, nil
	s.clear()
}
