package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/5dive/browser/internal/fault"
)

const debian = "/usr/lib/chromium/chromium"

func TestFind(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "plain"), "no program")
	for name, target := range map[string]string{"link": debian, "wrapper": "/usr/bin/chromium"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "script"), "#!/bin/sh\nexec chromium\n")
	if err := os.Chmod(filepath.Join(dir, "script"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, choice string
		places       []string
		path         string
		kind         fault.Kind
	}{
		{"what is installed", "", installed[2:], debian, ""},
		{"the first that is installed", "", []string{filepath.Join(dir, "none"), filepath.Join(dir, "plain"), debian}, debian, ""},
		{"a choice outranks", debian, []string{"/bin/true"}, debian, ""},
		{"Debian's wrapper", "/usr/bin/chromium", nil, debian, ""},
		{"a link to it", filepath.Join(dir, "wrapper"), nil, debian, ""},
		{"a link", filepath.Join(dir, "link"), nil, debian, ""},
		{"none installed", "", []string{filepath.Join(dir, "none")}, "", fault.Missing},
		{"a choice that is not there", filepath.Join(dir, "none"), installed, "", fault.Config},
		{"a choice that cannot run", filepath.Join(dir, "plain"), installed, "", fault.Config},
		{"a directory", dir, installed, "", fault.Config},
		{"a script of somebody", filepath.Join(dir, "script"), installed, "", fault.Config},
		{"a name without a path", "chromium", installed, "", fault.Config},
		{"arguments", debian + " --incognito", installed, "", fault.Config},
		{"a debugger", debian + " --remote-debugging-port=9222", installed, "", fault.Config},
		{"a debugger by itself", "--remote-debugging-pipe", installed, "", fault.Config},
		{"another program", "/bin/true", installed, "", fault.Config},
	} {
		got, err := find(test.choice, test.places)
		if fault.Of(err) != test.kind || got.Path != test.path {
			t.Errorf("%s: %+v, %v; want %q, %q", test.name, got, err, test.path, test.kind)
		}
		if err == nil && (got.Name != "Chromium" || got.Major < 100 || !strings.HasPrefix(got.Version, pidText(got.Major)+".")) {
			t.Errorf("%s: version is read as %+v", test.name, got)
		}
		if test.kind == fault.Missing && (!strings.Contains(err.Error(), "package chromium") || fault.Hint(err) == "") {
			t.Errorf("%s: %v names no package", test.name, err)
		}
	}
}

func TestVersionLine(t *testing.T) {
	for _, test := range []struct{ line, name, version string }{
		{"Chromium 156.0.8078.114 built on Debian GNU/Linux 12 (bookworm)", "Chromium", "156.0.8078.114"},
		{"Google Chrome 131.0.6778.85 ", "Google Chrome", "131.0.6778.85"},
		{"Google Chrome 131.0.6778.85 beta", "Google Chrome", "131.0.6778.85"},
		{"Microsoft Edge 131.0.2903.70", "Microsoft Edge", "131.0.2903.70"},
		{"true (GNU coreutils) 9.1", "", ""},
		{"156.0.8078.114", "", ""},
	} {
		found := versionLine.FindStringSubmatch(test.line)
		if test.name == "" && found != nil || test.name != "" && (found == nil || found[1] != test.name || found[2] != test.version) {
			t.Errorf("%q is read as %q", test.line, found)
		}
	}
}

func TestCheckVersion(t *testing.T) {
	chromium := func(major int) Binary { return Binary{Name: "Chromium", Version: "x", Major: major} }
	chrome := func(major int) Binary { return Binary{Name: "Google Chrome", Version: "x", Major: major} }
	for _, test := range []struct {
		name      string
		last, now Binary
		notice    bool
		kind      fault.Kind
	}{
		{"first start", Binary{}, chromium(156), false, ""},
		{"the same", chromium(156), chromium(156), false, ""},
		{"newer", chromium(155), chromium(156), false, ""},
		{"older", chromium(156), chromium(155), false, fault.Denied},
		{"another application", chromium(156), chrome(156), true, ""},
		{"another application, older", chromium(156), chrome(155), false, fault.Denied},
	} {
		notice, err := CheckVersion(test.last, test.now)
		if (notice != "") != test.notice || fault.Of(err) != test.kind {
			t.Errorf("%s: notice %q, %v", test.name, notice, err)
		}
	}
}
