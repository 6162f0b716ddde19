package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/5dive/browser/browser"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/test/site"
	"github.com/5dive/browser/test/stage"
)

const startRounds = 5

// starts measures serve with a running seat service, first on a new profile and then on a known one, beside Xvfb and Chromium alone.
func starts(ctx context.Context, t *table, binary string) error {
	server := httptest.NewServer(site.New(site.Config{}))
	defer server.Close()
	return with(binary, func(s *stage.Stage) error {
		if _, err := s.Verb(ctx, "ls"); err != nil { // the service runs
			return err
		}
		bare, err := byHand(ctx, s, server.URL)
		if err != nil {
			return err
		}
		var times []time.Duration
		for range startRounds {
			begin := time.Now()
			if _, err := s.Verb(ctx, "serve", "bench.example", "--url="+server.URL+"/login"); err != nil {
				return err
			}
			times = append(times, time.Since(begin))
			var stopped api.StopResult
			if err := s.JSON(ctx, &stopped, "serve", "bench.example", "--stop"); err != nil {
				return err
			}
		}
		first := times[0]
		p50 := median(times[1:])
		t.row("serve, new profile, to first window", ms(first), "", "", true)
		t.row("serve to first window, p50", ms(p50), ms(bare)+" by hand", ms(goalServe), p50 <= goalServe)
		return nil
	})
}

// byHand is the floor: Xvfb, then Chromium, until xdotool finds its window.
func byHand(ctx context.Context, s *stage.Stage, url string) (time.Duration, error) {
	chrome, err := browser.Find("")
	if err != nil {
		return 0, err
	}
	var times []time.Duration
	for i := range startRounds {
		home := filepath.Join(s.Home(), fmt.Sprint("hand", i))
		if out, err := s.Command(ctx, "mkdir", "-m", "700", home).CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%w: %s", err, out)
		}
		d, err := oneByHand(ctx, s, chrome.Path, home, url)
		if err != nil {
			return 0, err
		}
		times = append(times, d)
	}
	return median(times), nil
}

func oneByHand(ctx context.Context, s *stage.Stage, chrome, home, url string) (time.Duration, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	auth := filepath.Join(home, "auth")
	cookie := append([]byte{0xff, 0xff, 0, 0, 0, 0, 0, 18}, "MIT-MAGIC-COOKIE-1\x00\x10"...)
	key := make([]byte, 16)
	rand.Read(key)
	if err := os.WriteFile(auth, append(cookie, key...), 0o644); err != nil {
		return 0, err
	}
	begin := time.Now()
	read, write, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer read.Close()
	x := s.Command(ctx, "Xvfb", "-displayfd", "3", "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset", "-auth", auth)
	x.ExtraFiles = []*os.File{write}
	if err := x.Start(); err != nil {
		return 0, err
	}
	write.Close()
	defer x.Wait()
	defer cancel()
	n, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		return 0, err
	}
	env := []string{"DISPLAY=unix:" + strings.TrimSpace(n), "XAUTHORITY=" + auth, "HOME=" + home}
	c := s.Command(ctx, chrome, "--user-data-dir="+home, "--no-first-run", "--password-store=basic", "--disable-background-networking", url+"/login")
	c.Env = append(c.Env, env...)
	if err := c.Start(); err != nil {
		return 0, err
	}
	defer c.Wait()
	defer cancel()
	for deadline := time.Now().Add(20 * time.Second); ; { // --sync gives up when a window goes away while it looks
		find := s.Command(ctx, "xdotool", "search", "--sync", "--onlyvisible", "--class", "chromium")
		find.Env = append(find.Env, env...)
		if err := find.Run(); err == nil {
			break
		} else if time.Now().After(deadline) {
			return 0, fmt.Errorf("xdotool: %w", err)
		}
	}
	return time.Since(begin), nil
}

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}
