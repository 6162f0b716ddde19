package display

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/testuser"
)

// seat is an ordinary user with a process that holds his displays. The process does what the test asks, one call a
// line; it ends, and closes everything, when the test does.
type seat struct {
	t       testing.TB
	user    testuser.User
	scratch string
	calls   io.WriteCloser
	answers *bufio.Reader
	process *exec.Cmd
	killed  bool
}

// call is one request to a seat's process. Which fields count depends on Verb.
type call struct {
	Verb                  string
	Display               int // index of the display in order of start
	Scratch               string
	SharedMemory          bool
	Width, Height, Number int
	Fault, Kind, Text     string
	Typed, Down           bool
	Keysym                uint32
}

// answer is what came of it.
type answer struct {
	Err, FaultKind, Hint string
	Number               int
	Name, Authority      string
	Socket, Way          string
	Width, Height        int
	Server, Manager      int // pids
	Spare                int
}

func newSeat(t testing.TB) *seat {
	t.Helper()
	s := &seat{t: t, user: testuser.New(t)}
	s.scratch = filepath.Join(s.user.Home, "s")
	s.mkdir(s.scratch)
	cmd := testuser.Self(s.user, "role", "seat")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.process, s.calls, s.answers = cmd, in, bufio.NewReaderSize(out, 1<<20)
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil && !s.killed {
			t.Errorf("seat process: %v", err)
		}
	})
	return s
}

// kill ends the seat's process as a crash would.
func (s *seat) kill() {
	s.killed = true
	kill(s.t, s.process.Process.Pid)
}

func kill(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// mkdir makes a 0700 directory of the user.
func (s *seat) mkdir(path string) {
	s.t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Chown(path, s.user.UID, s.user.GID); err != nil {
		s.t.Fatal(err)
	}
}

// try makes a call that may fail.
func (s *seat) try(c call) answer {
	s.t.Helper()
	if c.Scratch == "" {
		c.Scratch = s.scratch
	}
	b, _ := json.Marshal(c)
	if _, err := s.calls.Write(append(b, '\n')); err != nil {
		s.t.Fatal(err)
	}
	line, err := s.answers.ReadBytes('\n')
	if err != nil {
		s.t.Fatalf("seat process: no answer to %s: %v", c.Verb, err)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		s.t.Fatal(err)
	}
	return a
}

// must makes a call that has to work.
func (s *seat) must(c call) answer {
	s.t.Helper()
	a := s.try(c)
	if a.Err != "" {
		s.t.Fatalf("%s: %s", c.Verb, a.Err)
	}
	return a
}

// client is an X client of a display, as this user.
func (s *seat) client(a answer, argv ...string) *exec.Cmd {
	cmd := testuser.Command(s.user, argv...)
	cmd.Env = append(cmd.Env, "DISPLAY="+a.Name, "XAUTHORITY="+a.Authority)
	return cmd
}

// run starts a client that stays until the test ends.
func (s *seat) run(cmd *exec.Cmd) {
	s.t.Helper()
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

// output runs a command to its end.
func output(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	b, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", cmd.Args, err, b)
	}
	return string(b)
}

// until waits for something that can only be looked at.
func until(t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for tick := time.NewTicker(10 * time.Millisecond); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v for %s", limit, what)
		}
	}
}

// processes lists the live processes of a user: pid to command line.
func (s *seat) processes() map[int]string {
	found := map[int]string{}
	paths, _ := filepath.Glob("/proc/[0-9]*")
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || ownerOf(info) != s.user.UID {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(path, "cmdline"))
		if len(line) == 0 {
			continue // a zombie
		}
		var pid int
		fmt.Sscan(filepath.Base(path), &pid)
		found[pid] = strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " ")
	}
	return found
}

// running lists the user's processes whose program has this name.
func (s *seat) running(name string) []int {
	var pids []int
	for pid, line := range s.processes() {
		program, _, _ := strings.Cut(line, " ")
		if filepath.Base(program) == name {
			pids = append(pids, pid)
		}
	}
	return pids
}

func failed(err error) answer {
	return answer{Err: err.Error(), FaultKind: string(fault.Of(err)), Hint: fault.Hint(err)}
}
