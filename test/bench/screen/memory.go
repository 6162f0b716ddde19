package main

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/5dive/browser/test/site"
	"github.com/5dive/browser/test/stage"
)

const settle = 10 * time.Second // until an idle browser is idle

// memory measures what one more idle seat with a login page adds to a box that has one.
func memory(ctx context.Context, t *table, binary string) error {
	server := httptest.NewServer(site.New(site.Config{}))
	defer server.Close()
	return with(binary, func(first *stage.Stage) error {
		return with(binary, func(second *stage.Stage) error {
			if _, err := first.Verb(ctx, "serve", bench, "--url="+server.URL+"/login"); err != nil {
				return err
			}
			time.Sleep(settle)
			before := pss(first)
			if _, err := second.Verb(ctx, "serve", bench, "--url="+server.URL+"/login"); err != nil {
				return err
			}
			time.Sleep(settle)
			more := pss(first) + pss(second) - before
			service, _ := second.Service()
			t.row("memory of one more idle seat (PSS)", fmt.Sprintf("%.0f MiB", more), "", fmt.Sprintf("%.0f MiB", goalSeatMiB), more <= goalSeatMiB)
			t.row("of that seat, by program (shared parts halved)", "", byProgram(second), "", true)
			t.row("of that the seat service at rest", fmt.Sprintf("%.1f MiB", pssOf(service)), "", "", true)
			return nil
		})
	})
}

// restful measures the seat service and the VNC server with one view on a page that stands still.
func restful(t *table, s *stage.Stage, dial func() (net.Conn, error), target, password, server string) error {
	service, ok := s.Service()
	if !ok {
		return fmt.Errorf("no seat service runs")
	}
	idle := cpuOver(service, 3*time.Second)
	w, conn, err := open(dial, target, password, 0, true)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := w.next(); err != nil {
		return err
	}
	busy := cpuOver(service, 3*time.Second)
	t.row(server+": seat service, CPU at rest / one still view", fmt.Sprintf("%.1f%% / %.1f%%", idle, busy), "", "", true)
	t.row(server+": seat service with one view (PSS)", fmt.Sprintf("%.1f MiB", pssOf(service)), "", "", true)
	return nil
}

// byProgram tells which programs of a seat take how much, in MiB of PSS.
func byProgram(s *stage.Stage) string {
	sums := map[string]float64{}
	for _, p := range s.Processes() {
		line := strings.Join(p.Argv, " ")
		name, _, _ := strings.Cut(filepath.Base(p.Argv[0]), " ")
		for _, mark := range []string{"--utility-sub-type=", "--type=", "5dive browser "} {
			if _, rest, ok := strings.Cut(line, mark); ok {
				name, _, _ = strings.Cut(rest, " ")
				break
			}
		}
		sums[name] += pssOf(p.PID)
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		list = append(list, fmt.Sprintf("%s %.0f", name, sums[name]))
	}
	return strings.Join(list, ", ")
}

// pss is the proportional memory of everything that a seat runs, in MiB.
func pss(s *stage.Stage) float64 {
	sum := 0.0
	for _, p := range s.Processes() {
		sum += pssOf(p.PID)
	}
	return sum
}

func pssOf(pid int) float64 {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "Pss:"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1024
		}
	}
	return 0
}

// cpuOver is the share of one core that a process uses, in percent.
func cpuOver(pid int, d time.Duration) float64 {
	before := ticks(pid)
	time.Sleep(d)
	return 100 * float64(ticks(pid)-before) / 100 / d.Seconds()
}

// ticks reads utime and stime, in hundredths of a second.
func ticks(pid int) int {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	u, _ := strconv.Atoi(fields[11])
	s, _ := strconv.Atoi(fields[12])
	return u + s
}
