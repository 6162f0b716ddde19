// Command screen measures what a person and an operator feel, on the real product with real Chromium: the time from nothing to a first
// window, from a link to the first picture, from a key to its pixel, frames a second near and far, and what one more seat and one more
// view cost. Each figure is printed beside its goal and beside a peer measured in the same run: the same VNC server without our bridge, or
// Xvfb and Chromium started by hand.
//
// Memory is PSS. A machine that does other work at the same time makes every time here longer; the peer's column tells by how much.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/5dive/browser/test/stage"
)

// The goals of the product.
const (
	goalServe   = 700 * time.Millisecond // nothing to first window
	goalKey     = 20 * time.Millisecond  // key to pixel, p50
	goalNear    = 58.0                   // frames a second on loopback
	goalFar     = 50.0                   // frames a second at 100 ms round trip
	goalSeatMiB = 140.0                  // one more idle seat
	farAway     = 100 * time.Millisecond
)

var (
	servers = flag.String("servers", "tigervnc x11vnc", "VNC servers to measure")
	parts   = flag.String("parts", "starts views memory", "what to measure")
)

func main() {
	binary := flag.String("binary", "bin/5dive", "the product")
	flag.Parse()
	if err := run(context.Background(), *binary); err != nil {
		fmt.Fprintln(os.Stderr, "bench screen:", err)
		os.Exit(1)
	}
}

// table collects what was measured; missed is told by the exit code at the end.
type table struct{ missed int }

func (t *table) row(what, ours, peer, goal string, ok bool) {
	mark := "met"
	if !ok {
		mark = "MISSED"
		t.missed++
	}
	if goal == "" {
		mark = ""
	}
	fmt.Printf("%-44s %12s %24s %12s  %s\n", what, ours, peer, goal, mark)
}

func run(ctx context.Context, binary string) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("/tmp", "5dbin")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	data, err := os.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("%w (make builds it)", err)
	}
	copied := filepath.Join(dir, "5dive")
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(copied, data, 0o755); err != nil {
		return err
	}
	t := &table{}
	fmt.Printf("%-44s %12s %24s %12s\n", "what", "ours", "peer", "goal")
	all := map[string]func(context.Context, *table, string) error{"starts": starts, "views": views, "memory": memory}
	for _, name := range strings.Fields(*parts) {
		part, ok := all[name]
		if !ok {
			return fmt.Errorf("no part is called %q", name)
		}
		if err := part(ctx, t, copied); err != nil {
			return err
		}
	}
	if t.missed > 0 {
		return fmt.Errorf("%d goals missed", t.missed)
	}
	return nil
}

// with gives a part a seat of its own.
func with(binary string, do func(*stage.Stage) error) error {
	s, err := stage.New(binary)
	if err != nil {
		return err
	}
	err = do(s)
	if end := s.End(); err == nil {
		err = end
	}
	return err
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
