package browser

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/5dive/browser/internal/fault"
)

func TestOnlyTheOriginInArgv(t *testing.T) {
	p := profileDir(t)
	start := "file://" + p.Scratch + "/" + startPage
	for _, test := range []struct{ url, last string }{
		{"", "about:blank"},
		{"https://example.com", "https://example.com/"},
		{"http://127.0.0.1:8080/", "http://127.0.0.1:8080/"},
		{"https://example.com/a", start},
		{"https://example.com/?token=T", start},
		{"https://example.com/#token", start},
		{"https://example.com/?", start},
	} {
		p.URL = test.url
		cmd, err := p.Command()
		if err != nil {
			t.Fatal(err)
		}
		if got := cmd.Args[len(cmd.Args)-1]; got != test.last {
			t.Errorf("the page of %q is %q, want %q", test.url, got, test.last)
		}
	}
}

func TestCommandRefuses(t *testing.T) {
	good := profileDir(t)
	for _, test := range []struct {
		name  string
		spoil func(p *Person)
		kind  fault.Kind
	}{
		{"a file", func(p *Person) { p.URL = "file:///etc/passwd" }, fault.Usage},
		{"a page of Chrome's own", func(p *Person) { p.URL = "chrome://settings" }, fault.Usage},
		{"a script", func(p *Person) { p.URL = "javascript:alert(1)" }, fault.Usage},
		{"a switch", func(p *Person) { p.URL = "--no-sandbox" }, fault.Usage},
		{"a password in the address", func(p *Person) { p.URL = "https://u:secret@example.com/" }, fault.Usage},
		{"a relative profile", func(p *Person) { p.UserData = "chrome" }, fault.Config},
		{"a long scratch", func(p *Person) { p.Scratch = "/tmp/" + strings.Repeat("x", 60) }, fault.Config},
		{"a time zone that is a path", func(p *Person) { p.TimeZone = "../../etc/passwd" }, fault.Config},
		{"a locale with more in it", func(p *Person) { p.Locale = "de_DE LD_PRELOAD=x" }, fault.Config},
	} {
		p := good
		test.spoil(&p)
		_, err := p.Command()
		if fault.Of(err) != test.kind {
			t.Errorf("%s: %v, want %s", test.name, err, test.kind)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error repeats the address: %v", test.name, err)
		}
	}
}

func TestCommandHasNoDebugger(t *testing.T) {
	p := profileDir(t)
	p.URL, p.Locale, p.TimeZone = "https://example.com", "de-de.UTF-8", "Europe/Berlin"
	cmd, err := p.Command()
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"--remote-debugging", "--enable-automation", "--no-sandbox", "--window-size", "--headless", "--load-extension"} {
		if slices.ContainsFunc(cmd.Args, func(a string) bool { return strings.HasPrefix(a, bad) }) {
			t.Errorf("the command has %s", bad)
		}
	}
	for _, want := range []string{"LANG=de_DE.UTF-8", "LANGUAGE=de_DE", "TZ=Europe/Berlin", "HOME=" + p.Scratch, "TMPDIR=" + p.Scratch} {
		if !slices.Contains(cmd.Env, want) {
			t.Errorf("the environment %q has no %s", cmd.Env, want)
		}
	}
	if cmd.Stdin != nil || cmd.Stdout != nil || cmd.Stderr != nil || !cmd.SysProcAttr.Setpgid || cmd.SysProcAttr.Pdeathsig != 0 {
		t.Errorf("the command has input, output or no group of its own: %+v", cmd.SysProcAttr)
	}
	if out, err := exec.Command("sh", "-c", "ulimit -c").Output(); err != nil || strings.TrimSpace(string(out)) != "0" {
		t.Errorf("core files are limited to %s, %v; want 0", out, err)
	}
}
