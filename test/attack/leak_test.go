package attack_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/sys/unix"
)

// noLeak holds what the watchers saw to having no secret in it.
func (w *world) noLeak(t *testing.T, other, root seen, naive string) {
	t.Helper()
	if _, ok := holds(other.Lines, naive); !ok {
		t.Error("the second user's watcher missed the control's password, so it proves nothing")
	}
	if _, ok := holds(root.Environ, naive); !ok {
		t.Error("root's watcher missed the control's environment, so it proves nothing")
	}
	for _, env := range other.Environ {
		t.Errorf("the second user read an environment of another: %.80q", env)
	}
	for what, value := range w.everything() {
		if text, ok := holds(append(other.Lines, root.Lines...), value); ok {
			t.Errorf("%s stood in a command line: %s", what, text)
		}
		if text, ok := holds(root.Environ, value); ok {
			t.Errorf("%s stood in an environment: %.200s", what, text)
		}
	}
}

// everything is each secret, and the name that was typed.
func (w *world) everything() map[string]string {
	all := map[string]string{"the typed name": w.names[0]}
	for what, value := range w.secrets {
		all[what] = value
	}
	return all
}

// forms are the ways in which a secret might be written.
func forms(value string) map[string][]byte {
	wide := &bytes.Buffer{}
	for _, unit := range utf16.Encode([]rune(value)) {
		wide.Write([]byte{byte(unit), byte(unit >> 8)})
	}
	return map[string][]byte{
		"as it is": []byte(value), "in UTF-16": wide.Bytes(), "in hex": []byte(hex.EncodeToString([]byte(value))),
		"in base64": []byte(strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(value)), "=")[:len(value)]),
	}
}

// searched looks through every file that any user could have written since, as root.
func (w *world) searched(t *testing.T) {
	t.Helper()
	naive := filepath.Join(w.Stage.Dir(), ".state", "naive.log")
	if err := os.WriteFile(naive, []byte("minted "+w.secrets["the nonce of the third view"]), 0o600); err != nil {
		t.Fatal(err)
	}
	files, found := 0, map[string][]string{}
	for _, place := range []string{filepath.Dir(w.Stage.Root), "/tmp", "/dev/shm", "/var/tmp", "/run", "/var/log", "/var/lib/systemd/coredump", "/var/crash"} {
		filepath.WalkDir(place, func(path string, e fs.DirEntry, err error) error {
			if err != nil || w.elsewhere(path) {
				return fs.SkipDir
			}
			if !e.Type().IsRegular() {
				return nil
			}
			files++
			for what := range w.inside(path) {
				found[what] = append(found[what], path)
			}
			w.core(t, path)
			return nil
		})
	}
	if got := found["the nonce of the third view"]; len(got) == 0 || got[0] != naive {
		t.Errorf("the search missed the control, so it proves nothing: %v", got)
	}
	os.Remove(naive)
	for what, paths := range found {
		for _, path := range paths {
			if path != naive && !(what == "the typed name" && w.chromes(path)) {
				t.Errorf("%s is left in %s", what, path)
			}
		}
	}
	t.Logf("searched %d files for %d secrets", files, len(w.everything()))
}

// elsewhere tells a place that is not this seat's: the person's own machine, other tests, what Go builds.
func (w *world) elsewhere(path string) bool {
	if filepath.Dir(path) != "/tmp" {
		return false
	}
	var st unix.Stat_t
	name := filepath.Base(path)
	return unix.Lstat(path, &st) != nil || strings.HasPrefix(name, "go-build") || strings.HasPrefix(name, "fdt") && !strings.HasPrefix(path, w.other.Home) ||
		strings.HasPrefix(name, "5d") && path != filepath.Dir(w.Stage.Root)
}

// chromes tells a file that is Chrome's own.
func (w *world) chromes(path string) bool {
	return strings.HasPrefix(path, filepath.Join(w.Profile(), "chrome")+"/")
}

// inside names the secrets that a file holds, in any form.
func (w *world) inside(path string) map[string]bool {
	found := map[string]bool{}
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil || st.Size > 256<<20 {
		return found
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return found
	}
	for what, value := range w.everything() {
		for _, form := range forms(value) {
			if bytes.Contains(text, form) {
				found[what] = true
			}
		}
	}
	return found
}

// core refuses core files of the seat.
func (w *world) core(t *testing.T, path string) {
	t.Helper()
	var st unix.Stat_t
	name := filepath.Base(path)
	if (name == "core" || strings.HasPrefix(name, "core.")) && unix.Stat(path, &st) == nil && int(st.Uid) == w.Stage.UID {
		t.Errorf("a core file is left: %s", path)
	}
}
