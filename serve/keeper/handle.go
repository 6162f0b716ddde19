package keeper

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"

	"github.com/5dive/browser/internal/fault"
)

// Handle is the service's end of one keeper. Events must be read until it closes; that is also when the keeper has ended.
type Handle struct {
	PID    int // also the session id of everything that the keeper starts
	Shared bool
	events chan Event
	mu     sync.Mutex // guards in
	in     io.WriteCloser
	cmd    *exec.Cmd
	lock   *os.File
}

// lockFD is where the keeper holds the profile's lock, so that it outlives a killed service until Chrome has written.
const lockFD = 3

// Start runs a keeper: argv is this binary with the hidden verb, lock the profile's held lock, whose ownership passes to the
// handle. Where the kernel allows it the keeper gets an IPC namespace of its own, so that Chromium's world-readable frame
// buffers (mode 0606) are seen by nobody else; where it does not, the display runs without shared memory.
func Start(argv []string, spec Spec, lock *os.File) (*Handle, error) {
	h, err := start(argv, lock, true)
	if err != nil {
		h, err = start(argv, lock, false)
	}
	if err != nil {
		lock.Close()
		return nil, fault.New(fault.Failed, "cannot start the keeper of %s: %w", spec.UserData, err)
	}
	spec.SharedMemory = h.Shared
	if err := h.send(spec); err != nil {
		h.Stop()
		for range h.events {
		}
		return nil, fault.New(fault.Failed, "cannot start the keeper of %s: %w", spec.UserData, err)
	}
	return h, nil
}

func start(argv []string, lock *os.File, apart bool) (*Handle, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"}
	cmd.Dir = "/"
	cmd.Stderr = os.Stderr
	cmd.ExtraFiles = []*os.File{lock}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if apart {
		uid, gid := os.Getuid(), os.Getgid()
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWIPC
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		in.Close()
		return nil, err
	}
	h := &Handle{PID: cmd.Process.Pid, Shared: apart && ownIPC(cmd.Process.Pid), events: make(chan Event, 16), in: in, cmd: cmd, lock: lock}
	go h.listen(out)
	return h, nil
}

// ownIPC looks instead of assuming: the namespace is private only if it is another one than ours.
func ownIPC(pid int) bool {
	theirs, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/ipc")
	if err != nil {
		return false
	}
	ours, err := os.Readlink("/proc/self/ns/ipc")
	return err == nil && ours != theirs
}

func (h *Handle) listen(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var e Event
		if json.Unmarshal(lines.Bytes(), &e) == nil {
			h.events <- e
		}
	}
	h.cmd.Wait()
	h.mu.Lock()
	h.in.Close()
	h.mu.Unlock()
	h.lock.Close()
	close(h.events)
}

// Events closes when the keeper process has ended and the profile's lock is free of it.
func (h *Handle) Events() <-chan Event { return h.events }

// Do sends a command. An error means that the keeper is gone; its events tell the rest.
func (h *Handle) Do(c Command) error { return h.send(c) }

// Stop orders the end; the event stopped tells how it went.
func (h *Handle) Stop() { h.send(Command{Do: "stop"}) }

func (h *Handle) send(v any) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return json.NewEncoder(h.in).Encode(v)
}
