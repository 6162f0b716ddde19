package attack_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// seen is what a watcher of /proc saw: each command line once, and each environment that it could read of a process not its own.
type seen struct {
	Looks   int
	Seconds float64
	Lines   []string
	Environ []string // root's watcher: environments; a user's: those of others that he could read
}

// watchRole reads the command lines of the machine until stdin closes, about a thousand times a second or with the pause that it is given,
// and then tells what it saw. It collects all instead of looking for secrets, because a secret may pass before anybody knows that it is one.
func watchRole(args []string) error {
	pause, err := time.ParseDuration(args[0])
	if err != nil {
		return err
	}
	var over atomic.Bool
	go func() { io.Copy(io.Discard, os.Stdin); over.Store(true) }()
	lines, environ := map[string]bool{}, map[string]bool{}
	w := watcher{self: os.Getuid(), buffer: make([]byte, 1<<20), young: map[int]time.Time{}}
	begin, looks := time.Now(), 0
	fmt.Println("ready")
	for tick := time.NewTicker(pause); !over.Load(); looks++ {
		if err := w.look(lines, environ, looks%200 == 0); err != nil {
			return err
		}
		<-tick.C
	}
	s := seen{Looks: looks, Seconds: time.Since(begin).Seconds()}
	for line := range lines {
		s.Lines = append(s.Lines, line)
	}
	for env := range environ {
		s.Environ = append(s.Environ, env)
	}
	return json.NewEncoder(os.Stdout).Encode(s)
}

// watcher looks at a process again and again while it is young, since a program begins with the words of the one that forked it, and at
// all of them now and then. Which pids are new is told by /proc/loadavg, whose last field is the newest one: a list of /proc takes too long.
type watcher struct {
	self   int
	buffer []byte
	newest int
	young  map[int]time.Time // pid -> until when
}

const youth = 200 * time.Millisecond

// look looks at what is young, or at all.
func (w *watcher) look(lines, environ map[string]bool, all bool) error {
	if all {
		return w.lookAll(lines, environ)
	}
	newest := w.last()
	if newest < w.newest {
		w.newest = 0 // pids have begun again; the next look at all sees what is missed
	}
	if w.newest == 0 {
		w.newest = newest
	}
	now := time.Now()
	for ; w.newest < newest; w.newest++ {
		w.young[w.newest+1] = now.Add(youth)
	}
	for pid, until := range w.young {
		if now.After(until) {
			delete(w.young, pid)
			continue
		}
		w.process(strconv.Itoa(pid), lines, environ)
	}
	return nil
}

// last is the newest pid of the machine.
func (w *watcher) last() int {
	f := bytes.Fields(w.read("/proc/loadavg"))
	if len(f) == 0 {
		return 0
	}
	pid, _ := strconv.Atoi(string(f[len(f)-1]))
	return pid
}

func (w *watcher) lookAll(lines, environ map[string]bool) error {
	dir, err := os.Open("/proc")
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name[0] >= '1' && name[0] <= '9' {
			w.process(name, lines, environ)
		}
	}
	return nil
}

// process looks at one process.
func (w *watcher) process(pid string, lines, environ map[string]bool) {
	if text := w.read("/proc/" + pid + "/cmdline"); !lines[string(text)] {
		lines[string(text)] = true
	}
	if w.own(pid) {
		return
	}
	if text := w.read("/proc/" + pid + "/environ"); len(text) > 0 && !environ[string(text)] {
		environ[string(text)] = true
	}
}

// own tells whether an ordinary watcher looks at a process of his own.
func (w *watcher) own(pid string) bool {
	if w.self == 0 {
		return false
	}
	status := w.read("/proc/" + pid + "/status")
	return bytes.Contains(status, fmt.Appendf(nil, "\nUid:\t%d\t", w.self))
}

func (w *watcher) read(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	n := 0
	for n < len(w.buffer) {
		got, err := f.Read(w.buffer[n:])
		n += got
		if err != nil || got == 0 {
			break
		}
	}
	return w.buffer[:n]
}

// watch runs a watcher until the returned function is called.
func watch(t testing.TB, cmd *exec.Cmd) func() seen {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out := &bytes.Buffer{}
	ready, told, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = told, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	told.Close()
	head := make([]byte, 6)
	if _, err := io.ReadFull(ready, head); err != nil || string(head) != "ready\n" {
		t.Fatalf("the watcher said %q: %v", head, err)
	}
	copied := make(chan error, 1)
	go func() { _, err := io.Copy(out, ready); copied <- err }()
	ended := false
	end := func() seen {
		t.Helper()
		ended = true
		in.Close()
		err := errors.Join(<-copied, cmd.Wait())
		var s seen
		if err == nil {
			err = json.Unmarshal(out.Bytes(), &s)
		}
		if err != nil {
			t.Fatalf("the watcher: %v", err)
		}
		t.Logf("a watcher looked %d times in %.1f s, %.0f a second, and saw %d command lines", s.Looks, s.Seconds, float64(s.Looks)/s.Seconds, len(s.Lines))
		return s
	}
	t.Cleanup(func() {
		if !ended {
			in.Close()
			<-copied
			cmd.Wait()
		}
		ready.Close()
	})
	return end
}

// holds names the first text that has a secret in it.
func holds(texts []string, secret string) (string, bool) {
	for _, text := range texts {
		if strings.Contains(text, secret) {
			return strings.ReplaceAll(strings.ReplaceAll(text, "\x00", " "), secret, "[SECRET]"), true
		}
	}
	return "", false
}

// caught is the control of a watcher: commands of the seat with a canary among their words and in their environment, as a naive build has
// them, for as short as a command can be.
func caught(cmd func(argv ...string) *exec.Cmd, canary string) {
	for i := range 20 {
		c := cmd("/bin/sleep", "0.02", "0.00"+strconv.Itoa(i))
		c.Args = append([]string{"x11vnc", "-passwd", canary}, "x")
		c.Path = "/bin/true"
		c.Run()
		c = cmd("/bin/sleep", "0.05")
		c.Env = append(c.Env, "VNCPASS="+canary)
		c.Run()
	}
}
