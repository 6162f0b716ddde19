package scene

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/5dive/browser/internal/clock"
	"github.com/5dive/browser/internal/safefile"
	"github.com/5dive/browser/seat"
	"github.com/5dive/browser/serve"
)

// Seatd is the role of a seat service with other times than the product's: the service itself, with a clock that a file sets forward, and
// another idle time. The verbs find it as they find their own. Its words: store, product, idle time, file of the clock.
func Seatd(args []string) error {
	idle, err := time.ParseDuration(args[2])
	if err != nil {
		return err
	}
	s, err := seat.Current(args[0])
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return serve.Run(ctx, serve.Config{Seat: s, Version: "test", Keeper: []string{args[1], "browser", "keeper"}, Idle: idle, Clock: forward(args[3])},
		func() { fmt.Println("ready") })
}

// forward is the machine's clock, set forward by what the file says.
func forward(path string) clock.Clock {
	return func() clock.Instant {
		now := clock.System()
		text, err := os.ReadFile(path)
		if err != nil {
			return now
		}
		if by, err := time.ParseDuration(strings.TrimSpace(string(text))); err == nil {
			now.Boot += by
			now.Wall = now.Wall.Add(by)
		}
		return now
	}
}

// Clocked starts a seat service of the role Seatd. The function it returns sets its clock forward, counted from the machine's own.
func (s *Scene) Clocked(idle time.Duration) (pid int, forward func(by time.Duration)) {
	s.T.Helper()
	if pid, runs := s.Stage.Service(); runs {
		Signal(s.T, pid, syscall.SIGTERM)
		Ended(s.T, pid, time.Minute)
	}
	file := filepath.Join(s.Stage.Home(), "clock")
	cmd := s.Self("seatd", s.Stage.Root, s.Stage.Binary, idle.String(), file)
	cmd.Env = append(cmd.Env, "FIVEDIVE_BROWSER_ROOT="+s.Stage.Root)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.T.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() { endRole(s.T, cmd) })
	said := make([]byte, 6)
	if _, err := io.ReadFull(out, said); err != nil {
		s.T.Fatalf("the service did not start: %v", err)
	}
	go func() { io.Copy(io.Discard, out) }()
	return cmd.Process.Pid, func(by time.Duration) {
		s.T.Helper()
		if err := safefile.Replace(file, []byte(by.String()), 0o600); err != nil {
			s.T.Fatal(err)
		}
		if err := os.Chown(file, s.Stage.UID, s.Stage.GID); err != nil {
			s.T.Fatal(err)
		}
	}
}

// endRole ends a role in order.
func endRole(t testing.TB, cmd *exec.Cmd) {
	cmd.Process.Signal(syscall.SIGTERM)
	stop := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer stop.Stop()
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Errorf("%v: %v", cmd.Args, err)
	}
}
