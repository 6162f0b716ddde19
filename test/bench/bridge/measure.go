package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tree is a process and its descendants.
func tree(pid int) []int {
	list := []int{pid}
	for i := 0; i < len(list); i++ {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", list[i]))
		for _, t := range threads {
			text, _ := os.ReadFile(t)
			for _, field := range strings.Fields(string(text)) {
				if child, err := strconv.Atoi(field); err == nil {
					list = append(list, child)
				}
			}
		}
	}
	return list
}

// cpu is the run time of a process and its living descendants so far, to the nanosecond: /proc/PID/stat counts in
// hundredths of a second, which over 50 processes is an error as large as the bridge's whole use.
func cpu(pid int) (total time.Duration) {
	for _, p := range tree(pid) {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p))
		for _, t := range threads {
			text, _ := os.ReadFile(t)
			ran, _, _ := strings.Cut(string(text), " ")
			ns, _ := strconv.ParseInt(ran, 10, 64)
			total += time.Duration(ns)
		}
	}
	return total
}

// pss is the memory of a process and its descendants in MiB, shared pages divided among those who share them.
func pss(pid int) (total float64) {
	for _, p := range tree(pid) {
		f, err := os.Open(fmt.Sprintf("/proc/%d/smaps_rollup", p))
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var kib float64
			if n, _ := fmt.Sscanf(lines.Text(), "Pss: %f kB", &kib); n == 1 {
				total += kib / 1024
			}
		}
		f.Close()
	}
	return total
}
