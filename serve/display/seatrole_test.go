package display

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/5dive/browser/internal/secret"
	"github.com/jezek/xgb/xproto"
)

// holder is the state of a seat's process.
type holder struct {
	displays []*Display
	inputs   map[int]*Input
	vnc      map[int]*VNC
}

func seatRole([]string) error {
	h := &holder{inputs: map[int]*Input{}, vnc: map[int]*VNC{}}
	defer func() {
		for _, d := range h.displays {
			d.Close()
		}
	}()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var c call
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		a, err := h.do(ctx, c)
		cancel()
		if err != nil {
			a = failed(err)
		}
		if err := json.NewEncoder(os.Stdout).Encode(a); err != nil {
			return err
		}
	}
	return nil
}

func (h *holder) do(ctx context.Context, c call) (a answer, err error) {
	switch c.Verb {
	case "start":
		return h.start(ctx, c)
	case "several":
		return h.several(ctx, c)
	}
	d := h.displays[c.Display]
	switch c.Verb {
	case "facts":
		return facts(d), nil
	case "window":
		return a, d.FirstWindow(ctx)
	case "urge":
		return a, d.Urge(c.Width)
	case "ended":
		select {
		case <-d.Done():
			return a, nil
		case <-ctx.Done():
			return a, ctx.Err()
		}
	case "close":
		d.Close()
		return a, nil
	case "vnc":
		v, err := d.StartVNC(ctx, Server(c.Kind))
		if err != nil {
			return a, err
		}
		h.vnc[c.Display] = v
		return answer{Socket: v.Socket()}, nil
	case "unvnc":
		h.vnc[c.Display].Close()
		return a, nil
	}
	return h.input(ctx, d, c)
}

func (h *holder) input(ctx context.Context, d *Display, c call) (a answer, err error) {
	in := h.inputs[c.Display]
	if in == nil {
		if in, err = Dial(d.Number(), d.Authority()); err != nil {
			return a, err
		}
		h.inputs[c.Display] = in
	}
	switch c.Verb {
	case "dial":
		a.Spare = len(in.keys.spare)
	case "key":
		err = in.Key(c.Keysym, c.Down)
	case "tap":
		for _, r := range c.Text {
			sym := keysymOf(r)
			if err = in.Key(sym, true); err == nil {
				err = in.Key(sym, false)
			}
		}
	case "text":
		a.Way, err = in.Text(ctx, secret.New(c.Text), c.Typed)
	case "release":
		err = in.ReleaseKeys()
	case "resize":
		a.Width, a.Height, err = in.Resize(c.Width, c.Height)
	case "size":
		a.Width, a.Height, err = in.Size()
	case "owner":
		var reply *xproto.GetSelectionOwnerReply
		if reply, err = xproto.GetSelectionOwner(in.link.x, in.offer.clipboard).Reply(); err == nil {
			a.Number = int(reply.Owner)
		}
	case "hangup":
		in.Close()
		delete(h.inputs, c.Display)
	default:
		err = fmt.Errorf("no verb %q", c.Verb)
	}
	return a, err
}

func facts(d *Display) answer {
	return answer{Number: d.Number(), Name: d.Name(), Authority: d.Authority(), Server: d.server.pid}
}

func (h *holder) start(ctx context.Context, c call) (answer, error) {
	d, err := Start(ctx, Config{Scratch: c.Scratch, SharedMemory: c.SharedMemory, Width: c.Width, Height: c.Height, faults: broken(c)})
	if err != nil {
		return answer{}, err
	}
	h.displays = append(h.displays, d)
	return facts(d), nil
}

// several starts displays at the same time, in scratch directories 0, 1, 2 ... that exist.
func (h *holder) several(ctx context.Context, c call) (answer, error) {
	made, errs := make([]*Display, c.Number), make([]error, c.Number)
	var wait sync.WaitGroup
	for i := range made {
		wait.Go(func() {
			made[i], errs[i] = Start(ctx, Config{Scratch: fmt.Sprintf("%s/%d", c.Scratch, i), faults: faults{number: 30000}})
		})
	}
	wait.Wait()
	for i := range made {
		if errs[i] != nil {
			return answer{}, errs[i]
		}
		h.displays = append(h.displays, made[i])
	}
	return answer{Number: len(h.displays)}, nil
}

// broken makes the named fault.
func broken(c call) faults {
	f := faults{number: c.Number}
	replace := func(do func(path string)) {
		f.beforeServer = func(_ int, path string) { os.Remove(path); do(path) }
	}
	switch c.Fault {
	case "missing":
		replace(func(string) {})
	case "empty":
		replace(func(path string) { os.WriteFile(path, nil, 0o600) })
	case "garbage":
		replace(func(path string) { os.WriteFile(path, []byte(strings.Repeat("garbage", 9)), 0o600) })
	case "unreadable":
		f.beforeServer = func(_ int, path string) { os.Chmod(path, 0) }
	case "symlink":
		f.beforeServer = func(_ int, path string) { os.Rename(path, path+".real"); os.Symlink(path+".real", path) }
	case "deleted":
		f.beforeProbe = func(_ int, path string) { os.Remove(path) }
	case "truncated":
		f.beforeProbe = func(_ int, path string) { os.Truncate(path, 0) }
	case "-ac": // the server of a naive start: our cookie is right, and nobody needs it
		f.args = func(args []string) []string { return append(args, "-ac") }
	case "no -auth":
		f.args = func(args []string) []string {
			i := slices.Index(args, "-auth")
			return slices.Delete(args, i, i+2)
		}
	case "other number":
		f.args = func(args []string) []string { args[1] = ":59900"; return args }
	case "lost": // two numbers are lost between our look and the server's
		lost := 0
		f.beforeServer = func(n int, _ string) {
			if lost++; lost <= 2 {
				os.Mkdir(socketPath(n), 0o700) // what Xvfb cannot unlink, as another user's socket
			}
		}
	}
	return f
}
