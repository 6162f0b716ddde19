package keeper

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/5dive/browser/browser"
	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/serve/display"
)

// Main runs a keeper until its profile is closed. In carries a Spec and then Commands; its end is the order to stop.
func Main(in io.Reader, out io.Writer) error {
	// The service's own terminal or process group must not end us half way: the pipe is the only word that counts.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	syscall.CloseOnExec(lockFD)
	adoptOrphans()
	lines := bufio.NewScanner(in)
	if !lines.Scan() {
		return fault.New(fault.Failed, "cannot read what to keep: the pipe closed first")
	}
	k := &keeper{out: json.NewEncoder(out), exits: make(chan exit, 1), vncEnds: make(chan *display.VNC, 1)}
	if err := json.Unmarshal(lines.Bytes(), &k.spec); err != nil {
		return fault.New(fault.Failed, "cannot read what to keep: %w", err)
	}
	commands := make(chan Command)
	go read(lines, commands)
	return k.run(commands)
}

// read hands commands on; the end of the pipe reads as stop.
func read(lines *bufio.Scanner, commands chan<- Command) {
	for lines.Scan() {
		var c Command
		if json.Unmarshal(lines.Bytes(), &c) == nil {
			commands <- c
		}
	}
	close(commands)
}

type exit struct {
	cmd *exec.Cmd
	err error
}

type keeper struct {
	spec    Spec
	mu      sync.Mutex // guards out
	out     *json.Encoder
	display *display.Display
	chrome  *exec.Cmd // nil when none runs
	exits   chan exit
	vnc     *display.VNC
	vncEnds chan *display.VNC
}

func (k *keeper) tell(e Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.out.Encode(e) // a closed pipe is no fault: standard input then ends too
}

func (k *keeper) run(commands <-chan Command) error {
	wanted, unwant := context.WithTimeout(context.Background(), startLimit)
	defer unwant()
	opened := make(chan error, 1)
	go func() { opened <- k.open(wanted) }()
	var err error
	select {
	case err = <-opened:
	case _, more := <-commands: // nothing is asked before ready but a stop
		unwant()
		<-opened
		if more {
			err = fault.New(fault.Failed, "cannot open the profile: stopped while it started")
		} else {
			err = fault.New(fault.Failed, "cannot open the profile: the seat service ended")
		}
	}
	if err != nil {
		k.tell(Event{Event: "failed", Text: err.Error(), Kind: string(fault.Of(err)), Hint: fault.Hint(err)})
		k.stop()
		return err
	}
	k.tell(Event{Event: "ready"})
	debug.FreeOSMemory() // a keeper waits for weeks with what the start took
	return k.keep(commands)
}

// open starts display and Chrome and waits for the first window. A Chrome that was started is waited for also when it is wanted no more: a
// SIGINT that reaches it on the way is lost.
func (k *keeper) open(ctx context.Context) error {
	k.tell(Event{Event: "progress", Text: "starting a display"})
	d, err := display.Start(ctx, display.Config{Scratch: k.spec.Scratch, Width: k.spec.Width, Height: k.spec.Height, SharedMemory: k.spec.SharedMemory, Checked: true})
	if err != nil {
		return err
	}
	k.display = d
	k.tell(Event{Event: "display", Number: d.Number(), Authority: d.Authority()})
	k.tell(Event{Event: "progress", Text: "starting " + k.spec.Binary.Name + " " + k.spec.Binary.Version})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := k.startChrome(); err != nil {
		return err
	}
	window, cancel := context.WithTimeout(context.WithoutCancel(ctx), windowLimit)
	defer cancel()
	return k.firstWindow(window)
}

// firstWindow waits for a window, or for Chrome's end if that comes first.
func (k *keeper) firstWindow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	mapped := make(chan error, 1)
	go func() { mapped <- k.display.FirstWindow(ctx) }()
	select {
	case err := <-mapped:
		if err != nil {
			return fault.New(fault.Failed, "cannot see a window of Chrome: %w", err)
		}
		return nil
	case e := <-k.exits:
		k.chrome = nil
		cancel()
		<-mapped
		return fault.New(fault.Failed, "Chrome ended before it showed a window: %s", reason(e))
	}
}

func (k *keeper) startChrome() error {
	b := k.spec.Binary
	p := browser.Person{
		Binary:   browser.Binary{Path: b.Path, Name: b.Name, Version: b.Version, Major: b.Major},
		UserData: k.spec.UserData, Scratch: k.spec.Scratch, URL: k.spec.URL,
		Display: k.display.Name(), Authority: k.display.Authority(),
		TimeZone: k.spec.TimeZone, Locale: k.spec.Locale,
	}
	if _, err := browser.ClearStale(k.spec.UserData); err != nil {
		return err
	}
	if err := p.Prepare(); err != nil {
		return err
	}
	cmd, err := p.Command()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fault.New(fault.Failed, "cannot start Chrome: %w", err)
	}
	k.chrome = cmd
	k.tell(Event{Event: "chrome", PID: cmd.Process.Pid})
	go func() { k.exits <- exit{cmd, cmd.Wait()} }()
	return nil
}

func (k *keeper) keep(commands <-chan Command) error {
	for {
		select {
		case c, more := <-commands:
			if !more || c.Do == "stop" {
				return k.stop()
			}
			k.do(c)
		case e := <-k.exits:
			k.chrome = nil
			code, sig := status(e)
			k.tell(Event{Event: "chrome-exit", Code: code, Signal: sig})
		case v := <-k.vncEnds:
			if v == k.vnc {
				k.vnc.Close()
				k.vnc = nil
				k.tell(Event{Event: "vnc-exit"})
			}
		case <-k.display.Done():
			k.tell(Event{Event: "display-exit"})
			return k.stop()
		}
	}
}

func (k *keeper) do(c Command) {
	switch c.Do {
	case "chrome":
		if k.chrome != nil {
			return
		}
		if err := k.startChrome(); err != nil {
			k.tell(Event{Event: "chrome-exit", Code: -1, Text: err.Error()})
		}
	case "vnc":
		k.startVNC(display.Server(c.Server))
	case "vnc-end":
		k.endVNC()
	}
}

func (k *keeper) startVNC(server display.Server) {
	k.endVNC()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	v, err := k.display.StartVNC(ctx, server)
	if err != nil {
		k.tell(Event{Event: "vnc-exit", Text: err.Error(), Kind: string(fault.Of(err)), Hint: fault.Hint(err)})
		return
	}
	k.vnc = v
	k.tell(Event{Event: "vnc", Server: string(server), Socket: v.Socket()})
	go func() { <-v.Done(); k.vncEnds <- v }()
}

func (k *keeper) endVNC() {
	if k.vnc == nil {
		return
	}
	v := k.vnc
	k.vnc = nil
	v.Close()
	<-k.vncEnds
}

// stop ends everything in order and tells how. It is the only way out.
func (k *keeper) stop() error {
	killed := k.endChrome()
	k.endVNC()
	if k.display != nil {
		k.display.Close()
	}
	reapOrphans()
	os.RemoveAll(k.spec.Scratch) // the service may be gone, and its start page may hold a token
	k.tell(Event{Event: "stopped", Killed: killed})
	return nil
}

// endChrome follows the measured protocol; it tells whether Chrome had to be killed.
func (k *keeper) endChrome() (killed bool) {
	if k.chrome == nil {
		return false
	}
	group, asked := k.chrome.Process.Pid, 0
	k.chrome.Process.Signal(os.Interrupt) // once, to the main process: a second SIGINT skips the writing of cookies
	ask, kill := time.NewTimer(askAfter), time.NewTimer(killAfter)
	defer ask.Stop()
	defer kill.Stop()
	for {
		select {
		case <-k.exits:
			k.chrome = nil
			// what is left of its group (crash handler, a helper that lost its parent) has no more to write
			syscall.Kill(-group, syscall.SIGKILL)
			return killed
		case <-ask.C:
			if k.display != nil {
				k.display.Urge(asked)
			}
			asked++
			ask.Reset(againAfter)
		case <-kill.C:
			killed = true
			syscall.Kill(-group, syscall.SIGKILL)
		}
	}
}

func status(e exit) (code int, sig string) {
	state := e.cmd.ProcessState
	if state == nil {
		return -1, ""
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -1, ws.Signal().String()
	}
	return state.ExitCode(), ""
}

func reason(e exit) string {
	code, sig := status(e)
	if sig != "" {
		return sig
	}
	return fmt.Sprintf("exit code %d", code)
}
