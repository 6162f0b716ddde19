package testuser

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A test that is killed removes nobody. So each user's comment says which process made him, and the next New removes
// those whose process is gone.

// mark names this process: its pid and when it started, since pids come again.
func mark() string { return fmt.Sprintf("testuser %d %s", os.Getpid(), started(os.Getpid())) }

// orphaned tells whether comment names a process that is gone. Comments of another form are not ours.
func orphaned(comment string) bool {
	var pid int
	var start string
	if n, _ := fmt.Sscanf(comment, "testuser %d %s", &pid, &start); n != 2 {
		return false
	}
	return started(pid) != start
}

// started is field 22 of /proc/PID/stat, "" if there is no such process. The name in field 2 may hold anything but ends with the last
// parenthesis (proc(5)).
func started(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}

// sweep removes the users of dead tests. It is called under the lock.
func sweep(t testing.TB) {
	file, err := os.Open("/etc/passwd")
	if err != nil {
		t.Fatalf("testuser: %v", err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		entry := strings.Split(lines.Text(), ":")
		if len(entry) != 7 || !strings.HasPrefix(entry[0], prefix) || !orphaned(entry[4]) {
			continue
		}
		uid, _ := strconv.Atoi(entry[2])
		end(t, uid)
		run(t, "userdel", entry[0])
		removeTree(t, filepath.Dir(entry[5]))
	}
}
