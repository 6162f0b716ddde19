package serve

import (
	"bufio"
	"context"
	"errors"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/seat"
	"github.com/5dive/browser/serve/api"
)

// readyFD is where a service that a verb started says "ready", or why it is not.
const readyFD = 3

// Ready answers the verb that started this service; call it once, with nil when the sockets accept.
func Ready(err error) {
	syscall.CloseOnExec(readyFD)
	f := os.NewFile(readyFD, "ready")
	if f == nil {
		return
	}
	defer f.Close()
	if err != nil {
		e := api.NewError(err)
		f.WriteString(strings.Join([]string{e.Code, e.Message, e.Hint}, "\t") + "\n")
		return
	}
	f.WriteString("ready\n")
}

// Connect reaches the caller's own seat service and, where no unit holds its socket, starts one: argv is this binary with the hidden verb.
func Connect(ctx context.Context, s seat.Seat, argv []string) (*api.Client, error) {
	if err := fits(s); err != nil {
		return nil, err
	}
	if err := s.Ensure(); err != nil {
		return nil, err
	}
	if c, err := try(ctx, s); err == nil || !startable(err) {
		return c, err
	}
	turn, err := startTurn(ctx, s)
	if err != nil {
		return nil, err
	}
	defer turn.Close()
	for range 3 { // one that was about to rest may take its socket away between the two
		if c, err := try(ctx, s); err == nil || !startable(err) {
			return c, err
		}
		if err := start(ctx, s, argv); err != nil {
			return nil, err
		}
	}
	return try(ctx, s)
}

// NewClient makes a client of a seat's service by role; it starts nothing.
func NewClient(s seat.Seat, role Role) *api.Client {
	return api.NewClient(func(ctx context.Context) (net.Conn, error) { return Dial(ctx, s, role) })
}

// try makes a client and asks one question, so that a socket that accepts without a service behind it does not pass.
func try(ctx context.Context, s seat.Seat) (*api.Client, error) {
	c := NewClient(s, RoleSeat)
	var v api.Version
	if err := c.Call(ctx, api.PathVersion, struct{}{}, &v, nil); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func startable(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) ||
		fault.Of(err) == fault.Busy
}

// startTurn lets one verb at a time start a service; another waits and then finds it running.
func startTurn(ctx context.Context, s seat.Seat) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(s.Run(), "start.lock"), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fault.New(fault.Denied, "cannot start the seat service: %w", err)
	}
	got := make(chan error, 1)
	go func() { got <- unix.Flock(int(f.Fd()), unix.LOCK_EX) }()
	select {
	case err := <-got:
		if err != nil {
			f.Close()
			return nil, fault.New(fault.Failed, "cannot start the seat service: %w", err)
		}
		return f, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx) // the file is closed with the process, which now ends
	}
}

// start runs a service in the background, of a session of its own, and waits until it answers or says why not. What the caller of the verb
// left open (a lock, the pipe of a script that waits for its end) must not live on in it, nor be seen by Chrome.
func start(ctx context.Context, s seat.Seat, argv []string) error {
	log, err := os.OpenFile(filepath.Join(s.State(), "service.log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return fault.New(fault.Denied, "cannot start the seat service: %w", err)
	}
	defer log.Close()
	read, write, err := os.Pipe()
	if err != nil {
		return fault.New(fault.Failed, "cannot start the seat service: %w", err)
	}
	defer read.Close()
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fault.New(fault.Failed, "cannot start the seat service: %w", err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = environment(s)
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{write}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	write.Close()
	if err != nil {
		return fault.New(fault.Failed, "cannot start the seat service: %w", err)
	}
	cmd.Process.Release() // it outlives us; init reaps it
	return answered(ctx, read, log.Name())
}

// environment is built from nothing: the store, and nothing else of the caller's.
func environment(s seat.Seat) []string {
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=" + s.Run()}
	if s.Root != seat.DefaultRoot {
		env = append(env, "FIVEDIVE_BROWSER_ROOT="+s.Root)
	}
	return env
}

func answered(ctx context.Context, from *os.File, log string) error {
	from.SetReadDeadline(time.Now().Add(20 * time.Second))
	defer context.AfterFunc(ctx, func() { from.SetReadDeadline(time.Unix(1, 0)) })()
	line, err := bufio.NewReader(from).ReadString('\n')
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fault.New(fault.Failed, "cannot start the seat service: it ended before it answered").Try("tail %s", log)
	}
	if line == "ready\n" {
		return nil
	}
	part := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
	if len(part) != 3 {
		return fault.New(fault.Failed, "cannot start the seat service: it gave no reason").Try("tail %s", log)
	}
	return (&api.Error{Code: part[0], Message: part[1], Hint: part[2]}).Fault()
}
