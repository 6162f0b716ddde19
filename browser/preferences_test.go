package browser

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/5dive/browser/internal/fault"
)

// profileDir is a user data directory and a Scratch on disk, with no Chrome.
func profileDir(t *testing.T) Person {
	t.Helper()
	top, err := os.MkdirTemp("/tmp", "fdb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	p := Person{Binary: Binary{Path: "/usr/lib/chromium/chromium", Name: "Chromium"}, UserData: filepath.Join(top, "chrome"), Scratch: filepath.Join(top, "s")}
	for _, dir := range []string{p.UserData, p.Scratch} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestMergeKeepsTheRest(t *testing.T) {
	for _, test := range []struct{ name, text, keeps string }{
		{"a large number", `{"a":13440556873848281}`, `"a":13440556873848281`},
		{"a long fraction", `{"a":0.1000000000000000055}`, `"a":0.1000000000000000055`},
		{"text that HTML would escape", `{"a":"<&>"}`, `"a":"<&>"`},
		{"neighbours of ours", `{"session":{"startup_urls":["http://x/"],"restore_on_startup":5},"profile":{"name":"P","exit_type":"Crashed"}}`, `"startup_urls":["http://x/"]`},
		{"something else where ours has an object", `{"session":7,"a":1}`, `"a":1`},
	} {
		merged, err := merge([]byte(test.text))
		if err != nil || !strings.Contains(string(merged), test.keeps) {
			t.Errorf("%s: %v, %s", test.name, err, merged)
		}
		var tree struct {
			Session struct{ Restore_on_startup int }
			Profile struct{ Exit_type string }
		}
		if err := json.Unmarshal(merged, &tree); err != nil || tree.Session.Restore_on_startup != 1 || tree.Profile.Exit_type != "Normal" {
			t.Errorf("%s: %v, %+v", test.name, err, tree)
		}
		if again, _ := merge(merged); string(again) != string(merged) {
			t.Errorf("%s: a second merge changes the file", test.name)
		}
	}
}

func TestPrepare(t *testing.T) {
	p := profileDir(t)
	p.URL = "https://example.com/a?token=T"
	session := filepath.Join(p.UserData, "Default", "Sessions", "Tabs_1")
	write(t, session, "old tabs")
	write(t, filepath.Join(p.UserData, "Default", "History"), "kept")
	if err := p.Prepare(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(session)); !os.IsNotExist(err) {
		t.Errorf("Sessions is still there: %v", err)
	}
	for _, path := range []string{
		filepath.Join(p.UserData, "First Run"), filepath.Join(p.UserData, "Default", "Preferences"),
		filepath.Join(p.UserData, "Default", "History"), filepath.Join(p.Scratch, startPage),
	} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, want mode 0600", path, err)
		}
	}
}

func TestPrepareRefusesWhatIsNoFile(t *testing.T) {
	for _, test := range []struct {
		name string
		make func(p Person, target string) error
	}{
		{"preferences are a link", func(p Person, target string) error {
			return os.Symlink(target, filepath.Join(p.UserData, "Default", "Preferences"))
		}},
		{"preferences have a second name", func(p Person, target string) error {
			return os.Link(target, filepath.Join(p.UserData, "Default", "Preferences"))
		}},
		{"sessions are a link", func(p Person, target string) error {
			return os.Symlink(filepath.Dir(target), filepath.Join(p.UserData, "Default", "Sessions"))
		}},
		{"the profile is a link", func(p Person, target string) error {
			if err := os.Remove(filepath.Join(p.UserData, "Default")); err != nil {
				return err
			}
			return os.Symlink(filepath.Dir(target), filepath.Join(p.UserData, "Default"))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := profileDir(t)
			target := filepath.Join(filepath.Dir(p.UserData), "else", "where")
			write(t, target, `{}`)
			if err := os.Mkdir(filepath.Join(p.UserData, "Default"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := test.make(p, target); err != nil {
				t.Fatal(err)
			}
			if err := p.Prepare(); fault.Of(err) != fault.Denied {
				t.Errorf("%v, want denied", err)
			}
			if text, err := os.ReadFile(target); err != nil || string(text) != `{}` {
				t.Errorf("what the link points at is %q now, %v", text, err)
			}
		})
	}
}

func FuzzMerge(f *testing.F) {
	for _, seed := range []string{"", "{}", "null", "[]", `{"session":null}`, `{"session":[1]}`, `{"a":1e999}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		merged, err := merge(text)
		if err == nil && !json.Valid(merged) {
			t.Errorf("%q becomes %q", text, merged)
		}
	})
}
