package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a program on a pseudo-terminal of its own.
type terminal struct {
	t      *testing.T
	master *os.File
	mu     sync.Mutex
	seen   bytes.Buffer
	news   chan struct{}
}

// openTerminal starts a program whose three streams are the terminal; it is ended and waited for with the test.
func openTerminal(t *testing.T, env []string, name string, words ...string) *terminal {
	t.Helper()
	master, slave := openPTY(t)
	cmd := exec.Command(lookPath(name), words...)
	cmd.Env = append(append(os.Environ(), "TERM=xterm"), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	term := &terminal{t: t, master: master, news: make(chan struct{}, 1)}
	var work sync.WaitGroup
	work.Go(term.read)
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		master.Close()
		work.Wait()
	})
	return term
}

func openPTY(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 200}); err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// read collects what the program shows until the terminal is gone.
func (term *terminal) read() {
	b := make([]byte, 4096)
	for {
		n, err := term.master.Read(b)
		term.mu.Lock()
		term.seen.Write(b[:n])
		term.mu.Unlock()
		select {
		case term.news <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (term *terminal) text() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.seen.String()
}

func (term *terminal) press(keys string) {
	term.t.Helper()
	if _, err := term.master.WriteString(keys); err != nil {
		term.t.Fatal(err)
	}
}

// shows waits until text is seen after the first `from` bytes, and gives where it ends.
func (term *terminal) shows(from int, text string) (end int) {
	term.t.Helper()
	late := time.After(60 * time.Second)
	for {
		if seen := term.text(); strings.Contains(seen[from:], text) {
			return from + strings.Index(seen[from:], text) + len(text)
		}
		select {
		case <-term.news:
		case <-late:
			term.t.Fatalf("the terminal does not show %q:\n%q", text, term.text())
		}
	}
}
