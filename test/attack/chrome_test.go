package attack_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/test/scene"
)

// noDebugger is row 21: nobody of the seat answers where debuggers do, and Chrome's own socket lies in a closed directory.
func noDebugger(t *testing.T, w *world) {
	w.Serve("/login")
	g := target{UID: w.Stage.UID}
	for _, l := range g.listeners(t) {
		for _, pid := range l.PIDs {
			if pid != w.Service() {
				t.Errorf("process %d listens: %+v", pid, l)
			}
		}
	}
	for port := 9222; port <= 9333; port++ {
		c, err := net.DialTimeout("tcp4", fmt.Sprintf("127.0.0.1:%d", port), time.Second)
		if err != nil {
			continue
		}
		c.Close()
		t.Logf("port %d belongs to somebody else", port)
	}
	for _, p := range scene.Tasks(w.Stage.UID) {
		if strings.Contains(strings.Join(p.Argv, " "), "remote-debugging") {
			t.Errorf("started with a debugger: %v", p)
		}
	}
	found, err := filepath.Glob(filepath.Join(scratch(w), "org.chromium.Chromium.*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("Chrome's socket directory: %v, %v", found, err)
	}
	var st unix.Stat_t
	if err := unix.Stat(found[0], &st); err != nil || st.Mode&0o7777 != 0o700 || int(st.Uid) != w.Stage.UID {
		t.Errorf("%s has mode %o of uid %d: %v", found[0], st.Mode&0o7777, st.Uid, err)
	}
}

// addresses is row 23: once the browser is open, no process of the seat has a path or a query of an address among its words.
func addresses(t *testing.T, w *world) {
	path, key := w.Site.Enter(false)
	w.secrets["the token of the address"] = key.Reveal()
	w.Stop()
	w.Site.Forget()
	w.Serve(path)
	w.Account(false)
	address := regexp.MustCompile(`https?://[^/ ]+/[^ \x00]+`)
	for _, p := range scene.Tasks(w.Stage.UID) {
		words := strings.Join(p.Argv, " ")
		if strings.Contains(words, key.Reveal()) || address.MatchString(words) {
			t.Errorf("an address stands in %v", p)
		}
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.PID))
		if strings.Contains(string(env), key.Reveal()) {
			t.Errorf("the address stands in the environment of %v", p)
		}
	}
}

// hostileNames is row 38 at the verbs.
func hostileNames(t *testing.T, w *world) {
	for _, site := range []string{"..", "../x", "a/b", "-x", "", ".", ".state", "a..b", strings.Repeat("a", 300), "a\nb", "ａ.com", "a․com", "A.com/..", "x+../y"} {
		for _, words := range [][]string{{"serve", "--", site}, {"serve", "--stop", "--", site}, {"viewer", "--bind=local", "--", site}, {"viewer-revoke", "--", site}} {
			w.Refused(2, words...)
		}
	}
	for _, seat := range []string{"root", "daemon", "..", "nobody", "no-such-user", "a/b", ""} {
		if out, err := w.Root(scene.Limit(t, time.Minute), "ls", "--seat="+seat); err == nil {
			t.Errorf("root used seat %q: %s", seat, out)
		}
		if out, err := w.Root(scene.Limit(t, time.Minute), "setup", "--seat="+seat); err == nil && seat != "" {
			t.Errorf("setup took seat %q: %s", seat, out)
		}
	}
	w.Refused(77, "ls", "--seat=daemon")
}
