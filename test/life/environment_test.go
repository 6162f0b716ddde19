package life_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/test/scene"
	"github.com/5dive/browser/test/site"
)

// rubbish is what a caller's environment may hold that programs below would listen to.
func rubbish(home string) []string {
	return []string{
		"DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent/rubbish", "DBUS_SYSTEM_BUS_ADDRESS=rubbish:", "GNOME_KEYRING_CONTROL=/nonexistent/rubbish",
		"XDG_CURRENT_DESKTOP=GNOME", "XDG_SESSION_DESKTOP=KDE", "XDG_RUNTIME_DIR=/nonexistent/rubbish", "XDG_CONFIG_HOME=" + home + "/rubbish", "XDG_DATA_DIRS=/nonexistent/rubbish",
		"LD_PRELOAD=/nonexistent/rubbish.so", "LD_LIBRARY_PATH=/nonexistent/rubbish", "GTK_MODULES=rubbish", "GTK_IM_MODULE=rubbish", "GTK_THEME=rubbish", "GTK_PATH=/nonexistent/rubbish",
		"CHROME_WRAPPER=rubbish", "CHROME_DESKTOP=rubbish", "CHROME_LOG_FILE=" + home + "/rubbish.log", "CHROMIUM_FLAGS=--remote-debugging-port=9333", "CHROMIUM_USER_FLAGS=--remote-debugging-port=9333",
		"CHROME_HEADLESS=1", "BREAKPAD_DUMP_LOCATION=" + home + "/rubbish", "SSLKEYLOGFILE=" + home + "/rubbish.keys", "GOOGLE_API_KEY=rubbish",
		"http_proxy=http://127.0.0.1:1", "https_proxy=http://127.0.0.1:1", "all_proxy=socks5://127.0.0.1:1", "DISPLAY=:77", "WAYLAND_DISPLAY=rubbish", "XAUTHORITY=/nonexistent/rubbish",
		"TMPDIR=" + home + "/rubbish", "TZ=Pacific/Rubbish", "LANG=xx_RUBBISH", "LC_ALL=xx_RUBBISH", "PATH=" + home + "/rubbish:/usr/bin:/bin", "X11VNC_AVOID_WINDOWS=rubbish",
		"GODEBUG=rubbish=1", "GOTRACEBACK=crash", "GOMAXPROCS=1",
		"LISTEN_FDS=1", "LISTEN_PID=1", "LISTEN_FDNAMES=seat", "NOTIFY_SOCKET=/nonexistent/rubbish",
	}
}

// P07: whatever the caller's environment and home say, each process of the seat has the same environment, and the cookies are written with
// the one key of the basic store.
func TestEnvironmentChangesNothing(t *testing.T) {
	s := scene.New(t)
	s.SignIn(true)
	clean := environments(t, s)
	s.Stop()
	plant(t, s)
	s.Ends()
	s.Site.Forget()
	path, _ := s.Site.Enter(true)
	var r api.ServeResult
	cmd := s.Stage.Command(scene.Limit(t, 2*time.Minute), s.Stage.Binary, "browser", "serve", scene.Name, "--url="+s.Origin+path, "--json")
	cmd.Env = append(rubbish(s.Stage.Home()), "HOME="+s.Stage.Home(), "FIVEDIVE_BROWSER_ROOT="+s.Stage.Root)
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &r)
	}
	if err != nil {
		t.Fatalf("serve with a rubbish environment: %v: %s", err, out)
	}
	s.Account(true)
	dirty := environments(t, s)
	for name, want := range clean {
		if got, ok := dirty[name]; !ok || !maps.Equal(got, want) {
			t.Errorf("%s has %v, with a clean caller %v", name, got, want)
		}
	}
	for _, p := range scene.Tasks(s.Stage.UID) {
		if text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.PID)); bytes.Contains(bytes.ToLower(text), []byte("rubbish")) {
			t.Errorf("rubbish reached %v: %.300q", p, text)
		}
		if words := strings.Join(p.Argv, " "); strings.Contains(words, "-port=9333") || strings.Contains(words, "rubbish") {
			t.Errorf("rubbish reached the words of %v", p)
		}
	}
	s.Stop()
	if v10, v11 := cookieKeys(t, s); v10 < 2 || v11 > 0 {
		t.Errorf("%d cookies are written with the basic store's key and %d with a keyring's", v10, v11)
	}
	s.Ends()
	s.Kept(true)
	if found, _ := filepath.Glob(filepath.Join(s.Stage.Home(), "rubbish*")); len(found) > 0 {
		t.Errorf("written by the caller's environment: %v", found)
	}
}

// plant puts files of flags where start scripts and toolkits look for them.
func plant(t *testing.T, s *scene.Scene) {
	t.Helper()
	home := s.Stage.Home()
	for path, text := range map[string]string{
		".config/chromium-flags.conf": "--remote-debugging-port=9333\n--password-store=gnome-libsecret\n", ".config/chrome-flags.conf": "--remote-debugging-port=9333\n",
		".chromium-browser.init": "CHROMIUM_FLAGS=--remote-debugging-port=9333\n", ".config/gtk-3.0/settings.ini": "[Settings]\ngtk-modules=rubbish\n",
		".config/openbox/autostart": "touch " + home + "/rubbish-autostart\n", ".Xdefaults": "*rubbish: 1\n", ".xsession": "touch " + home + "/rubbish-xsession\n",
	} {
		full := filepath.Join(home, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o700), os.WriteFile(full, []byte(text), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	filepath.WalkDir(home, func(path string, _ os.DirEntry, _ error) error { return os.Lchown(path, s.Stage.UID, s.Stage.GID) })
}

// environments are those of the seat's main processes, less what is another at each start.
func environments(t *testing.T, s *scene.Scene) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	for _, word := range []string{"seatd", "keeper", "Xvfb", "openbox", "chrome"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", s.Find(word)))
		if err != nil {
			t.Fatal(err)
		}
		all[word] = map[string]string{}
		for _, entry := range strings.Split(strings.Trim(string(text), "\x00"), "\x00") {
			name, value, _ := strings.Cut(entry, "=")
			if strings.Contains(value, "/open-") || name == "DISPLAY" {
				value = "another at each start"
			}
			all[word][name] = value
		}
	}
	return all
}

// cookieKeys counts the site's cookies by the key that their first three bytes name.
func cookieKeys(t *testing.T, s *scene.Scene) (v10, v11 int) {
	t.Helper()
	for _, name := range []string{"Cookies", "Network/Cookies"} {
		text, _ := os.ReadFile(filepath.Join(s.Profile(), "chrome", "Default", name))
		for _, cookie := range []string{site.SessionCookie, site.KeptCookie} {
			v10 += bytes.Count(text, []byte("127.0.0.1"+cookie+"v10"))
			v11 += bytes.Count(text, []byte("127.0.0.1"+cookie+"v11"))
		}
	}
	return v10, v11
}

// What the caller has open stays his: no process of the seat keeps a lock or a pipe of the script that ran the verb.
func TestDescriptorsChangeNothing(t *testing.T) {
	s := scene.New(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := s.Stage.Command(scene.Limit(t, 2*time.Minute), s.Stage.Binary, "browser", "serve", scene.Name, "--url="+s.Origin+"/login")
	cmd.ExtraFiles = []*os.File{w, w, w}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	w.Close()
	r.SetReadDeadline(time.Now().Add(30 * time.Second))
	if n, err := r.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("a process of the seat holds the caller's pipe: %d, %v", n, err)
		for _, p := range scene.Tasks(s.Stage.UID) {
			t.Log(p)
		}
	}
}
