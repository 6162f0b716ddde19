package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestCompletionBash presses Tab in a real bash and looks at what the verbs were then called with.
func TestCompletionBash(t *testing.T) {
	tests := []struct{ name, keys, want string }{
		{"verb", "5dive browser vers\t\n", "version=1.2.3"},
		{"second-name", "5dive-browser vers\t\n", "version=1.2.3"},
		{"browser", "5dive b\tversion\n", "version=1.2.3"},
		{"site", "5dive browser serve lin\t--stop\n", "site=linkedin.com\r\nstate=stopped"},
		{"site-after-flag", "5dive browser serve --stop x\t\n", "site=x.com+work\r\nstate=stopped"},
		{"site-of-seat", "5dive browser serve --seat=bob r\t--stop\n", "site=reddit.com\r\nstate=stopped"},
		{"flag", "5dive browser serve linkedin.com --st\t\n", "state=stopped"},
		{"flag-with-value", "5dive browser viewer linkedin.com --bi\tlo\t\n", "bind=local"},
		{"value-word", "5dive browser viewer linkedin.com --bind lo\t\n", "bind=local"},
		{"shell", "5dive browser completion fi\t | tail -1\n", "complete -c 5dive -f"},
		{"help", "5dive browser help viewer-red\t| tail -1\n", "< nonce"},
	}
	newSeat(t)
	term := openTerminal(t, []string{"SITES=linkedin.com x.com+work", "SITESBOB=reddit.com", "PS1=ready> "}, "bash", "--norc", "--noprofile", "-i")
	at := term.shows(0, "ready> ")
	term.press("bind 'set enable-bracketed-paste off'; source <(5dive browser completion bash); echo sour''ced\n")
	at = term.shows(at, "sourced")
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			term.t = t
			at = term.shows(at, "ready> ")
			term.press(test.keys)
			at = term.shows(at, test.want)
		})
	}
}

// TestCompletionStartsNothing: candidates come from the store, and the seat service is not called.
func TestCompletionStartsNothing(t *testing.T) {
	dir := newSeat(t)
	p := start(t, []string{"SITES=a.com b.com"}, "complete", "serve", "")
	if got := p.code(); got != 0 || p.stdout.String() != "a.com\nb.com\n" {
		t.Errorf("exit code %d, stdout %q", got, &p.stdout)
	}
	if matches, _ := filepath.Glob(filepath.Join(dir, "calls")); len(matches) > 0 {
		t.Errorf("the seat service was called: %s", read(t, dir, "calls"))
	}
}

func TestCandidates(t *testing.T) {
	sites := func(words ...string) string {
		d := testDeps()
		t.Setenv("SITES", "linkedin.com x.com")
		return strings.Join(candidates(t.Context(), d, words), " ")
	}
	tests := []struct{ words, want string }{
		{"", "setup auth serve viewer viewer-redeem viewer-revoke ls status settings profile relay version help completion"},
		{"view", "viewer viewer-redeem viewer-revoke"},
		{"seat", ""},
		{"nonsense ", ""},
		{"seatd ", ""},
		{"ls ", ""},
		{"ls -", "--seat= --json"},
		{"ls --json -", "--seat="},
		{"setup --seat=a --seat", "--seat="},
		{"status l", "linkedin.com"},
		{"status linkedin.com ", ""},
		{"viewer --bind=", "local"},
		{"viewer --bind=x", ""},
		{"viewer --bind ", "local"},
		{"viewer --bind local ", "linkedin.com x.com"},
		{"viewer --ttl ", ""},
		{"viewer-redeem x.com --nonce=", "-"},
		{"profile ", "rm"},
		{"profile rm ", "linkedin.com x.com"},
		{"profile rm x.com ", ""},
		{"completion ", "bash zsh fish"},
	}
	for _, test := range tests {
		if got := sites(strings.Split(test.words, " ")...); got != test.want {
			t.Errorf("candidates(%q) = %q, want %q", test.words, got, test.want)
		}
	}
}

func TestRejoin(t *testing.T) {
	tests := []struct{ words, want string }{
		{"viewer --bind = lo", "viewer|--bind=lo"},
		{"viewer --bind =", "viewer|--bind="},
		{"viewer --bind = local x", "viewer|--bind=local|x"},
		{"viewer = x", "viewer|=|x"},
		{"--url = https://x/?a = b", "--url=https://x/?a=b"},
	}
	for _, test := range tests {
		if got := strings.Join(rejoin(strings.Fields(test.words)), "|"); got != test.want {
			t.Errorf("rejoin(%q) = %q, want %q", test.words, got, test.want)
		}
	}
}
