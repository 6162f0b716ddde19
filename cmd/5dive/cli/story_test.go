package cli

import (
	"strings"
	"testing"
)

// TestSpinner looks at the moving line on a terminal: it moves while the verb waits, goes when it ends, and Ctrl-C ends it.
func TestSpinner(t *testing.T) {
	newSeat(t)
	term := openTerminal(t, nil, "5dive", "browser", "serve", "silent.com")
	at := term.shows(0, "⠋ silent")
	at = term.shows(at, "⠙ silent")
	term.press("\x03")
	at = term.shows(at, "\r\x1b[Kthe browser goes on; next: 5dive browser serve silent.com --stop ends it\r\n5dive browser serve: interrupted")
	if strings.Contains(term.text()[at:], "\x1b") {
		t.Errorf("it moves on after the end: %q", term.text()[at:])
	}
}

// TestNoSpinner: a terminal that cannot move its cursor gets lines.
func TestNoSpinner(t *testing.T) {
	newSeat(t)
	term := openTerminal(t, []string{"TERM=dumb"}, "5dive", "browser", "serve", "linkedin.com")
	term.shows(0, "starting Chrome\r\nsite=linkedin.com\r\n")
	if strings.Contains(term.text(), "\x1b") {
		t.Errorf("an escape on a dumb terminal: %q", term.text())
	}
}
