package display

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/5dive/browser/internal/fault"
)

// startServer starts Xvfb on a reserved number, proves it private and keeps an authorised connection to it. Where Xvfb
// cannot have a number (somebody took its path or lock after we looked) the next one is tried.
func (d *Display) startServer(ctx context.Context) error {
	if !d.config.Checked {
		if err := CheckDirectory(); err != nil {
			return err
		}
	}
	at := randomNumber()
	if d.config.faults.number != 0 {
		at = d.config.faults.number - firstNumber
	}
	var last error
	for range serverTrials {
		name, err := reserve(at)
		if err != nil {
			return err
		}
		d.name, d.number = name, name.number
		ready, err := d.startOn(ctx)
		if err == nil {
			return nil
		}
		d.abandon()
		if ready || ctx.Err() != nil || fault.Of(err) == fault.Missing {
			return err
		}
		last, at = err, name.number-firstNumber+1
	}
	return last
}

// startOn starts Xvfb on the number held. ready tells that it had its number, so that a failure is final.
func (d *Display) startOn(ctx context.Context) (ready bool, err error) {
	if d.config.faults.beforeServer != nil {
		d.config.faults.beforeServer(d.number, d.authority)
	}
	if err := d.launch(ctx); err != nil {
		return false, err
	}
	if d.config.faults.beforeProbe != nil {
		d.config.faults.beforeProbe(d.number, d.authority)
	}
	return true, d.prove()
}

// prove makes the connection that keeps the server, and then makes sure that nobody comes in without a cookie. This
// order is forced: with -terminate a server without clients ends when it has refused one.
func (d *Display) prove() error {
	// Xvfb leaves its socket open to every uid, who could then hold all client slots by saying nothing.
	if err := os.Chmod(socketPath(d.number), 0o600); err != nil {
		return fault.New(fault.Denied, "cannot close the socket of display %d to other users: %w", d.number, err)
	}
	l, err := openLink(d.number, d.authority, d.server.pid)
	if err != nil {
		return err
	}
	if err := probeRefused(d.number, d.server.pid); err != nil {
		l.close()
		return err
	}
	d.link = l
	d.name.socket, err = os.Lstat(socketPath(d.number))
	return err
}

// launch runs Xvfb and waits until it says that it has its number.
func (d *Display) launch(ctx context.Context) error {
	path, err := program("Xvfb")
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return fault.New(fault.Failed, "cannot start Xvfb: %w", err)
	}
	defer r.Close()
	args := d.serverArgs()
	if d.config.faults.args != nil {
		args = d.config.faults.args(args)
	}
	d.server, err = spawn(spec{path: path, args: args, env: environment(d.config.Scratch), files: []*os.File{w}})
	w.Close()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { r.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	line, err := bufio.NewReader(r).ReadString('\n')
	if ctx.Err() != nil {
		return cause(ctx, "start Xvfb")
	}
	if err != nil {
		<-d.server.done // it closed the pipe by ending
		return fault.New(fault.Failed, "cannot start Xvfb on display %d: %s", d.number, d.server.said.last())
	}
	if n, err := strconv.Atoi(strings.TrimSpace(line)); err != nil || n != d.number {
		return fault.New(fault.Failed, "cannot trust Xvfb: it says display %q, reserved was %d", strings.TrimSpace(line), d.number)
	}
	return nil
}

// serverArgs: -terminate and -noreset are two names of one setting, the last one wins. We want -terminate: the server
// ends with its last client and never falls back to a reset, which would read the authority file again.
//
// -r, keys do not repeat by themselves: on a slow line the release of a key comes later than the repeat would begin, and
// a password gets double letters. A viewer sends its own repeats.
//
// -extension GLX, none: our Chrome draws without it, and Mesa with LLVM would take 32 MiB of each seat.
func (d *Display) serverArgs() []string {
	args := []string{"Xvfb", ":" + strconv.Itoa(d.number), "-displayfd", "3",
		"-screen", "0", fmt.Sprintf("%dx%dx24", MaxWidth, MaxHeight),
		"-nolisten", "tcp", "-nolisten", "local", "-terminate", "-auth", d.authority,
		"-r", "-extension", "GLX"}
	if !d.config.SharedMemory {
		args = append(args, "-extension", "MIT-SHM")
	}
	return args
}

// abandon ends a server that did not pass and gives its number back.
func (d *Display) abandon() {
	if d.link != nil {
		d.link.close()
		d.link = nil
	}
	if d.server != nil {
		d.server.end()
	}
	d.name.release(d.server)
	d.name = nil
}
