package seat

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/testuser"
)

func init() {
	// set replaces the settings by KEY=VALUE words.
	verbs["set"] = func(a []string) (string, error) {
		return "", with(a, func(s Seat) error {
			var v Settings
			for _, word := range a[1:] {
				key, value, _ := strings.Cut(word, "=")
				if err := v.Set(key, value); err != nil {
					return err
				}
			}
			return s.SetSettings(v)
		})
	}
}

func TestSetSettings(t *testing.T) {
	u := testuser.New(t)
	root := box(t, u)
	path := filepath.Join(root, u.Name, "settings.json")
	as(t, u, "set", root, "time_zone=Europe/Berlin", "locale=de-DE", "chrome=chromium", "vnc=x11vnc").ok(t)
	want := "{TimeZone:Europe/Berlin Locale:de-DE Chrome:chromium VNC:x11vnc}"
	if got := as(t, u, "settings", root).ok(t).Value; got != want {
		t.Errorf("have %s, want %s", got, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for words, refusal := range map[string]string{
		"time_zone=Europe/Nowhere": "time_zone: no such time zone", "locale=de_DE; rm": "locale: not a locale",
		"chrome=../chrome": "chrome: want a name", "vnc=vino": "vnc: want tigervnc or x11vnc", "chrome=/opt/\xff": "chrome: want a name",
	} {
		a := as(t, u, "set", root, words)
		if a.refused(t, fault.Usage, refusal); strings.Contains(a.Text, "\n") {
			t.Errorf("%q: more than one line: %q", words, a.Text)
		}
	}
	as(t, u, "set", root, "timezone=UTC").refused(t, fault.Usage, "there is no such key")
	must(t, os.Chmod(path, 0o622))
	as(t, u, "set", root, "locale=en").refused(t, fault.Denied, "no writing for group and others")
	must(t, os.Chmod(path, 0o600))
	if got := as(t, u, "settings", root).ok(t).Value; got != want {
		t.Errorf("a refusal wrote %s", got)
	}
	must(t, os.WriteFile(path, []byte("spoiled"), 0o600))
	as(t, u, "set", root).ok(t)
	if got := as(t, u, "settings", root).ok(t).Value; got != "{TimeZone: Locale: Chrome: VNC:}" {
		t.Errorf("all defaults: %s", got)
	}
}

// TestResetOfWhatIsNoFile: it is refused at once, with what to do, and stays.
func TestResetOfWhatIsNoFile(t *testing.T) {
	u := testuser.New(t)
	root := box(t, u)
	path := filepath.Join(root, u.Name, "settings.json")
	for plant, want := range map[string]string{"ln -s /etc/passwd": "rm " + path, "mkfifo": "rm -r " + path, "mkdir": "rm -r " + path} {
		must(t, os.RemoveAll(path))
		if out, err := shAs(u, "sh", "-ec", plant+` "$1"`, "sh", path); err != nil {
			t.Fatal(out)
		}
		before := facts(t, path)
		a := as(t, u, "set", root)
		if a.refused(t, fault.Denied, "want a file"); a.Hint != want || facts(t, path) != before {
			t.Errorf("%s: hint %q, now %s", plant, a.Hint, facts(t, path))
		}
	}
}

// TestEverySettingHasAKey: what is in the file can be shown and set.
func TestEverySettingHasAKey(t *testing.T) {
	for _, key := range SettingKeys() {
		var v Settings
		value := map[string]string{"time_zone": "UTC", "locale": "de", "chrome": "chromium", "vnc": "x11vnc"}[key]
		if err := v.Set(key, value); err != nil || v.Get(key) != value {
			t.Errorf("%s: %v", key, err)
		}
		if _, err := decodeSettings("f", []byte(`{"`+key+`": ""}`)); err != nil {
			t.Errorf("the file has no %s: %v", key, err)
		}
	}
	if keys, fields := len(SettingKeys()), reflect.TypeFor[Settings]().NumField(); keys != fields {
		t.Errorf("%d keys for %d fields", keys, fields)
	}
}
