package cli

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/5dive/browser/serve/api"
)

// TestInterrupt ends verbs by signals while they wait for the seat service.
func TestInterrupt(t *testing.T) {
	tests := []struct {
		words  []string
		call   string // after which the signal is sent
		signal syscall.Signal
		code   int
	}{
		{[]string{"serve", "silent.com"}, api.PathServe, syscall.SIGINT, 130},
		{[]string{"serve", "silent.com"}, api.PathServe, syscall.SIGTERM, 143},
		{[]string{"serve", "silent.com"}, api.PathServe, syscall.SIGHUP, 129},
		{[]string{"auth", "forever.com", "--wait"}, api.PathWait, syscall.SIGINT, 130},
	}
	for _, test := range tests {
		t.Run(strings.Join(test.words, " ")+" "+test.signal.String(), func(t *testing.T) {
			dir := newSeat(t)
			p := start(t, []string{"DISPLAY="}, test.words...)
			if !waitFor(t.Context(), filepath.Join(dir, "calls"), test.call) {
				t.Errorf("the service was not called")
			}
			p.group(test.signal)
			if got := p.code(); got != test.code {
				t.Errorf("exit code %d, want %d", got, test.code)
			}
			if test.call == api.PathServe && !strings.Contains(p.stderr.String(), "5dive browser serve silent.com --stop") {
				t.Errorf("stderr %q does not tell how to end what goes on", &p.stderr)
			}
			if want := "5dive browser " + test.words[0] + ": interrupted\n"; !strings.HasSuffix(p.stderr.String(), want) {
				t.Errorf("stderr %q, want it to end with %q", &p.stderr, want)
			}
		})
	}
}

// TestRelayInterrupted ends a verb whose end is a signal: that is no failure.
func TestRelayInterrupted(t *testing.T) {
	note := filepath.Join(t.TempDir(), "note")
	p := start(t, []string{"RELAY_NOTE=" + note}, "relay", "--listen=127.0.0.1:8080")
	waitFor(t.Context(), note, "serving")
	p.group(syscall.SIGINT)
	if got := p.code(); got != 0 {
		t.Errorf("exit code %d; stderr: %s", got, &p.stderr)
	}
}
