package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// waitFor waits until the file at path holds text.
func waitFor(ctx context.Context, path, text string) bool {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if b, _ := os.ReadFile(path); strings.Contains(string(b), text) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
}

func lookPath(name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		panic(err)
	}
	return path
}

// process is a verb that runs by itself, in a process group of its own as a shell would give it.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout bytes.Buffer
	stderr bytes.Buffer
}

func start(t *testing.T, env []string, words ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(lookPath("5dive"), append([]string{"browser"}, words...)...)}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// group sends a signal to the whole group, as the terminal does at Ctrl-C.
func (p *process) group(s syscall.Signal) {
	p.t.Helper()
	if err := syscall.Kill(-p.cmd.Process.Pid, s); err != nil {
		p.t.Fatal(err)
	}
}

// code waits for the end and gives the exit code.
func (p *process) code() int {
	p.t.Helper()
	stuck := time.AfterFunc(120*time.Second, func() { p.cmd.Process.Kill() })
	defer stuck.Stop()
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
