package browser

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/5dive/browser/test/site"
)

// signIn opens the one-time link and returns when the site has shown the account.
func (r *rig) signIn(kept bool) *running {
	r.t.Helper()
	path, _ := r.site.Enter(kept)
	c := r.start(path)
	r.account()
	return c
}

// account waits for a request of the account page.
func (r *rig) account() site.Request {
	r.t.Helper()
	seen, err := r.site.WaitRequest(r.wait(), "the account page", func(q site.Request) bool { return q.Path == "/account" })
	if err != nil {
		r.t.Fatal(err)
	}
	return seen
}

// again starts Chrome on the origin, ends it by SIGINT when its page has loaded, and fails the test unless the site saw one visit, signed in.
func (r *rig) again(what string, kept bool) {
	r.t.Helper()
	r.site.Forget()
	c := r.start("")
	seen := r.account()
	if !seen.Session || seen.Kept != kept {
		r.t.Errorf("%s: the site saw session %v and kept %v; want session, kept %v", what, seen.Session, seen.Kept, kept)
	}
	if _, err := r.site.WaitEvent(r.wait(), "/account", "load"); err != nil {
		r.t.Fatal(err)
	}
	c.stop()
	var paths []string
	for _, q := range r.site.Pages() {
		paths = append(paths, q.Path)
	}
	if got := strings.Join(paths, " "); got != "/ /account" {
		r.t.Errorf("%s: pages %q were loaded, want one visit", what, got)
	}
}

// P03, P04, O8: both kinds of cookie, set a moment before the end, survive SIGINT and then every cycle; no old tab comes back.
func TestLoginSurvivesCycles(t *testing.T) {
	for _, test := range []struct {
		name   string
		kept   bool
		cycles int
	}{{"persistent and session cookie", true, 20}, {"session cookie alone", false, 2}} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			r.signIn(test.kept).stop()
			for range test.cycles {
				r.again("after a stop", test.kept)
			}
		})
	}
}

// A crash after the cookies are written: no old tab, no lost session cookie, and the link that it left behind is cleared.
func TestLoginSurvivesKillOfWrittenProfile(t *testing.T) {
	r := newRig(t)
	r.signIn(true).stop()
	r.site.Forget()
	c := r.start("")
	r.account()
	c.kill()
	r.again("after SIGKILL", true)
}

// A preferences file that a crash has torn costs preferences, not logins, and shows no message box.
func TestLoginSurvivesCorruptPreferences(t *testing.T) {
	r := newRig(t)
	r.signIn(true).stop()
	path := filepath.Join(r.userData, "Default", "Preferences")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	torn := text[:len(text)/2]
	if err := os.WriteFile(path, torn, 0o600); err != nil {
		t.Fatal(err)
	}
	r.again("after a torn Preferences", true)
	if kept, err := os.ReadFile(path + ".bad"); err != nil || !bytes.Equal(kept, torn) {
		t.Errorf("the torn file is not kept as Preferences.bad: %v", err)
	}
}

// P07: what the caller's environment says of buses and keyrings changes nothing.
func TestCookieKeyIsFixed(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/rubbish")
	t.Setenv("XDG_CURRENT_DESKTOP", "GNOME")
	t.Setenv("GNOME_KEYRING_CONTROL", "/nonexistent")
	r := newRig(t)
	c := r.signIn(true)
	for _, entry := range c.Env { // not from /proc, where Chrome has written zeros over it
		name, value, _ := strings.Cut(entry, "=")
		if strings.Contains(value, "nonexistent") || strings.HasPrefix(name, "XDG_") || strings.HasPrefix(name, "DBUS_") && value != "disabled:" {
			t.Errorf("the environment of Chrome has %s", entry)
		}
	}
	c.stop()
	if v10, v11 := r.cookiePrefixes(); v10 < 2 || v11 > 0 {
		t.Errorf("%d cookies have prefix v10 and %d v11; want 2 and none", v10, v11)
	}
	os.Unsetenv("DBUS_SESSION_BUS_ADDRESS")
	r.again("with no bus", true)
}

// cookiePrefixes counts the encrypted values of the site's cookies in the file of cookies by the first three bytes, which name the key. A record holds
// name, value (empty) and encrypted value one after the other, then the path.
func (r *rig) cookiePrefixes() (v10, v11 int) {
	r.t.Helper()
	var text []byte
	for _, name := range []string{"Cookies", "Network/Cookies"} {
		part, _ := os.ReadFile(filepath.Join(r.userData, "Default", name))
		text = append(text, part...)
	}
	for _, name := range []string{site.SessionCookie, site.KeptCookie} {
		v10 += bytes.Count(text, []byte("127.0.0.1"+name+"v10"))
		v11 += bytes.Count(text, []byte("127.0.0.1"+name+"v11"))
	}
	return v10, v11
}

// What the page itself sees: no automation, the profile's time zone and language.
func TestPageSeesAnOrdinaryBrowser(t *testing.T) {
	r := newRig(t)
	c := r.start("/tabs")
	e, err := r.site.WaitEvent(r.wait(), "/tabs", "load")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"webdriver": "false", "timeZone": "Pacific/Auckland", "language": "en-US", "visibility": "visible"} {
		if got := e.Text(name); got != want {
			t.Errorf("the page sees %s %q, want %q", name, got, want)
		}
	}
	c.stop()
}
