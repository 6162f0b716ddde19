package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/test/rfb"
	"github.com/5dive/browser/test/stage"
)

//go:embed moving.html
var moving []byte

const (
	keyRounds  = 200
	frameTime  = 5 * time.Second
	bench      = "bench.example"
	boxX, boxY = 10, 10 // of the box that changes with a key, from the corner of the page
)

// views measures both VNC servers through the product and beside it.
func views(ctx context.Context, t *table, binary string) error {
	for _, server := range strings.Fields(*servers) {
		err := with(binary, func(s *stage.Stage) error { return view(ctx, t, s, server) })
		if err != nil {
			return fmt.Errorf("%s: %w", server, err)
		}
	}
	return nil
}

func view(ctx context.Context, t *table, s *stage.Stage, server string) error {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write(moving)
	}))
	defer page.Close()
	if err := settings(ctx, s, server); err != nil {
		return err
	}
	if _, err := s.Verb(ctx, "serve", bench, "--url="+page.URL+"/"); err != nil {
		return err
	}
	var minted api.ViewerResult
	if err := s.JSON(ctx, &minted, "viewer", bench, "--bind=bench"); err != nil {
		return err
	}
	begin := time.Now()
	out, err := s.VerbWith(ctx, minted.Nonce, "viewer-redeem", bench, "--nonce=-", "--session=bench")
	if err != nil {
		return err
	}
	target, password := answer(out, "target"), answer(out, "password")
	first, err := firstPicture(target, password)
	if err != nil {
		return err
	}
	primary := server == "tigervnc"
	t.row(server+": link to first picture", ms(first.Sub(begin)), "", "", true)
	direct, err := socketOf(s)
	if err != nil {
		return err
	}
	ours := func() (net.Conn, error) { return net.Dial("tcp4", target) }
	keyOurs, err := keyToPixel(ours, target, password)
	if err != nil {
		return fmt.Errorf("key to pixel: %w", err)
	}
	if err := move(ours, target, password); err != nil {
		return err
	}
	nearOurs, err := frames(ours, target, password, 0)
	if err != nil {
		return fmt.Errorf("frames: %w", err)
	}
	farOurs, err := frames(ours, target, password, farAway)
	if err != nil {
		return fmt.Errorf("frames far away: %w", err)
	}
	bare := func() (net.Conn, error) { return net.Dial("unix", direct) }
	nearBare, err := frames(bare, "", "", 0)
	if err != nil {
		return fmt.Errorf("frames without the bridge: %w", err)
	}
	if err := move(ours, target, password); err != nil {
		return err
	}
	goal := func(text string) string {
		if primary {
			return text
		}
		return ""
	}
	t.row(server+": key to pixel, p50", ms(keyOurs), "", goal(ms(goalKey)), !primary || keyOurs <= goalKey)
	t.row(server+": frames a second, loopback", fmt.Sprintf("%.1f", nearOurs), fmt.Sprintf("%.1f without bridge", nearBare), goal(fmt.Sprint(goalNear)), !primary || nearOurs >= goalNear)
	t.row(server+": frames a second, 100 ms round trip", fmt.Sprintf("%.1f", farOurs), "", goal(fmt.Sprint(goalFar)), !primary || farOurs >= goalFar)
	return restful(t, s, ours, target, password, server)
}

// settings chooses the VNC server of the seat.
func settings(ctx context.Context, s *stage.Stage, server string) error {
	if _, err := s.Verb(ctx, "ls"); err != nil {
		return err
	}
	write := s.Command(ctx, "sh", "-c", `umask 077; printf '{"vnc": "%s"}\n' "$1" >"$2"`, "sh", server, filepath.Join(s.Dir(), "settings.json"))
	if out, err := write.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func answer(out, name string) string {
	for _, line := range strings.Split(out, "\n") {
		if v, ok := strings.CutPrefix(line, name+"="); ok {
			return v
		}
	}
	return ""
}

// socketOf finds the VNC server's own socket, which only the seat and root can open.
func socketOf(s *stage.Stage) (string, error) {
	found, err := filepath.Glob(filepath.Join(s.Dir(), ".run", "open-*", "vnc*"))
	for _, f := range found {
		if info, err := os.Stat(f); err == nil && info.Mode()&os.ModeSocket != 0 {
			return f, nil
		}
	}
	return "", errors.Join(errors.New("the VNC server has no socket"), err)
}

// open joins a view through a connection; target empty means that no websocket is in between.
func open(dial func() (net.Conn, error), target, password string, away time.Duration, keepOn bool) (*watcher, net.Conn, error) {
	conn, err := dial()
	if err != nil {
		return nil, nil, err
	}
	conn.SetDeadline(time.Now().Add(time.Minute))
	far := conn
	if away > 0 {
		far = lag(conn, away)
	}
	if target == "" {
		w, err := watch(far, "", keepOn)
		return w, conn, err
	}
	ws, _, err := rfb.DialWebsocket(far, "http://"+target+"/", http.Header{})
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	w, err := watch(ws, password, keepOn)
	return w, conn, err
}

func firstPicture(target, password string) (time.Time, error) {
	w, conn, err := open(func() (net.Conn, error) { return net.Dial("tcp4", target) }, target, password, 0, false)
	if err != nil {
		return time.Time{}, err
	}
	defer conn.Close()
	f, err := w.next()
	return f.at, err
}

// keyToPixel presses a key and waits for the box to change, again and again.
func keyToPixel(dial func() (net.Conn, error), target, password string) (time.Duration, error) {
	w, conn, err := open(dial, target, password, 0, true)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	return w.pressed(func() error {
		if err := w.client.Key('a', true); err != nil {
			return err
		}
		return w.client.Key('a', false)
	})
}

// pressed times the way from a key to the update that covers the box.
func (w *watcher) pressed(press func() error) (time.Duration, error) {
	for w.seen == nil {
		if _, err := w.next(); err != nil {
			return 0, fmt.Errorf("cannot find the box: %w", err)
		}
		if err := w.more(); err != nil {
			return 0, err
		}
	}
	if err := w.awake(press); err != nil {
		return 0, err
	}
	var times []time.Duration
	for range keyRounds {
		begin := time.Now()
		f, err := w.change(press, *w.seen)
		if err != nil {
			return 0, fmt.Errorf("after %d keys (p50 %s): %w", len(times), ms(median(append(times, 0))), err)
		}
		times = append(times, f.at.Sub(begin))
		time.Sleep(time.Duration(7+len(times)%17) * time.Millisecond) // not in step with the display's own frames
	}
	return median(times), nil
}

// awake presses until the first change: a window that has just come up may not have the keyboard yet.
func (w *watcher) awake(press func() error) error {
	again := time.NewTicker(time.Second)
	over := make(chan struct{})
	go func() {
		for {
			select {
			case <-again.C:
				press()
			case <-over:
				return
			}
		}
	}()
	_, err := w.change(press, *w.seen)
	again.Stop()
	close(over)
	return err
}

// change presses the key and reads up to the picture that covers the box.
func (w *watcher) change(press func() error, box rect) (frame, error) {
	if err := press(); err != nil {
		return frame{}, err
	}
	for {
		f, err := w.next()
		if err != nil {
			return f, err
		}
		if err := w.more(); err != nil || f.covers(box.x+boxX, box.y+boxY) {
			return f, err
		}
	}
}

// move presses the key that sets the page in motion, or stops it.
func move(dial func() (net.Conn, error), target, password string) error {
	w, conn, err := open(dial, target, password, 0, false)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := errors.Join(w.client.Key('m', true), w.client.Key('m', false), w.more()); err != nil {
		return err
	}
	_, err = w.next()
	return err
}

// frames counts pictures while the page changes with every frame of the display.
func frames(dial func() (net.Conn, error), target, password string, away time.Duration) (float64, error) {
	w, conn, err := open(dial, target, password, away, true)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if _, err := w.next(); err != nil {
		return 0, err
	}
	var n int
	var begin time.Time
	for {
		if err := w.more(); err != nil {
			return 0, err
		}
		f, err := w.next()
		if err != nil {
			return 0, err
		}
		switch {
		case begin.IsZero():
			begin = f.at.Add(time.Second) // let it settle
		case f.at.Before(begin):
		case f.at.Sub(begin) > frameTime:
			return float64(n) / frameTime.Seconds(), nil
		default:
			n++
		}
	}
}
