package seat

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/testuser"
)

func init() {
	// records writes a stamp and a record and reads both back.
	verbs["records"] = func(a []string) (string, error) {
		var out string
		err := withSite(a, func(s Seat, site Site) error {
			empty, err := s.Record(site)
			if err != nil {
				return err
			}
			if empty != (Profile{Owner: s.UID, Driver: s.UID}) {
				return fmt.Errorf("before: %+v", empty)
			}
			seen := time.Date(2026, 9, 14, 6, 0, 0, 0, time.UTC)
			if err := s.SetStamp(site, Stamp{FirstSeen: seen, LastAuthenticated: seen, Checked: seen.Add(time.Hour), Verdict: "UNKNOWN", Reason: "no adapter"}); err != nil {
				return err
			}
			empty.Chrome, empty.Major, empty.Label = "/usr/lib/chromium/chromium", 156, "work ☂"
			if err := s.SetRecord(site, empty); err != nil {
				return err
			}
			stamp, err := s.Stamp(site)
			if err != nil {
				return err
			}
			record, err := s.Record(site)
			out = fmt.Sprintf("%s %s %s/%s %d %s %v", stamp.LastAuthenticated.Format(time.RFC3339), stamp.Checked.Format(time.RFC3339), stamp.Verdict, stamp.Reason,
				record.Major, record.Label, record.Owner == s.UID)
			return err
		})
		return out, err
	}
	verbs["setrecord"] = func(a []string) (string, error) {
		return "", withSite(a, func(s Seat, site Site) error { return s.SetRecord(site, Profile{}) })
	}
	// notes ROOT N appends N events.
	verbs["notes"] = func(a []string) (string, error) {
		n, _ := strconv.Atoi(a[1])
		return "", with(a, func(s Seat) error {
			for range n {
				if err := s.Note(Event{Name: ViewerDenied, Site: "example.com", Fields: map[string]string{"reason": "wrong session"}}); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func TestRecords(t *testing.T) {
	u := testuser.New(t)
	root := box(t, u)
	for _, id := range []string{"example.com", "example.com+work", host253} {
		as(t, u, "setrecord", root, id).refused(t, fault.Usage, "there is none")
		as(t, u, "make", root, id).ok(t)
		got := as(t, u, "records", root, id).ok(t).Value
		if want := "2026-09-14T06:00:00Z 2026-09-14T07:00:00Z UNKNOWN/no adapter 156 work ☂ true"; got != want {
			t.Errorf("%s: have %s, want %s", id, got, want)
		}
	}
	for _, path := range []string{".state/stamps/example.com", "example.com/profile.json"} {
		info, err := os.Stat(filepath.Join(root, u.Name, path))
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	for text, want := range map[string]string{
		"\x00garbage": ":1:1: want an object, have no JSON", "{\n  \"major\": \"156\"\n}": ":2:12: /major: want int, have string", "{\"major\": 156": ":1:14: unexpected EOF",
	} {
		path := filepath.Join(root, u.Name, "example.com/profile.json")
		must(t, os.WriteFile(path, []byte(text), 0o600))
		as(t, u, "records", root, "example.com").refused(t, fault.Config, path+want)
	}
	as(t, u, "remove", root, "example.com").ok(t)
	if facts(t, filepath.Join(root, u.Name, ".state/stamps/example.com")) != "none" {
		t.Error("the stamp outlives the profile")
	}
}

// TestRecordsAreNotFollowed: a file that leads elsewhere is refused, not read.
func TestRecordsAreNotFollowed(t *testing.T) {
	u := testuser.New(t)
	root, seat, _ := inhabited(t, u)
	stamp := filepath.Join(seat, ".state/stamps/example.com")
	as(t, u, "records", root, "example.com")
	for name, plant := range map[string]string{
		"link":      `ln -s /etc/hostname "$1"`,
		"FIFO":      `mkfifo "$1"`,
		"hard link": `echo '{}' > "$HOME/x"; ln "$HOME/x" "$1" || { echo '{}' > "$1"; ln "$1" "$1+2"; }`,
		"directory": `mkdir "$1"`,
		"not JSON":  `echo nonsense > "$1"`,
		"too large": `head -c 100000 /dev/zero > "$1"`,
	} {
		t.Run(name, func(t *testing.T) {
			must(t, os.RemoveAll(stamp))
			if out, err := shAs(u, "sh", "-ec", plant, "sh", stamp); err != nil {
				t.Fatal(out)
			}
			if a := as(t, u, "stamp", root, "example.com"); a.Kind != fault.Denied && a.Kind != fault.Config {
				t.Errorf("have (%s) %s", a.Kind, a.Text)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	u := testuser.New(t)
	root := box(t, u)
	path := filepath.Join(root, u.Name, "settings.json")
	if got := as(t, u, "settings", root).ok(t).Value; got != "{TimeZone: Locale: Chrome: VNC:}" {
		t.Errorf("none: %s", got)
	}
	for _, row := range []struct{ name, text, want string }{
		{"all", `{"time_zone": "Europe/Berlin", "locale": "de-DE", "chrome": "/usr/lib/chromium/chromium", "vnc": "x11vnc"}`,
			"{TimeZone:Europe/Berlin Locale:de-DE Chrome:/usr/lib/chromium/chromium VNC:x11vnc}"},
		{"none", `{}`, "{TimeZone: Locale: Chrome: VNC:}"},
		{"named chrome", `{"chrome": "google-chrome"}`, "{TimeZone: Locale: Chrome:google-chrome VNC:}"},
		{"unknown", "{\n  \"timezone\": \"UTC\"}", ":2:3: /timezone: unknown object member name"},
		{"zone", "{\n  \"time_zone\": \"Europe/Nowhere\"}", ":2:16: /time_zone: no such time zone"},
		{"zone path", `{"time_zone": "../../etc/passwd"}`, ":1:15: /time_zone: no such time zone"},
		{"zone local", `{"time_zone": "Local"}`, ":1:15: /time_zone: no such time zone"},
		{"locale", `{"locale": "de_DE; rm"}`, ":1:12: /locale: not a locale"},
		{"chrome", `{"chrome": "../chrome"}`, ":1:12: /chrome: want a name"},
		{"vnc", "{\"locale\": \"en\",\n\"vnc\":\t\"vino\"}", ":2:8: /vnc: want tigervnc or x11vnc"},
		{"type", `{"vnc": 3}`, ":1:9: /vnc: want string, have number"},
		{"trailing comma", `{"vnc": "x11vnc",}`, ":1:17: "},
		{"empty file", "", ":1:1: unexpected EOF"},
	} {
		t.Run(row.name, func(t *testing.T) {
			must(t, os.WriteFile(path, []byte(row.text), 0o644))
			must(t, os.Chown(path, u.UID, u.GID))
			a := as(t, u, "settings", root)
			if row.want[0] == '{' {
				if a.ok(t).Value != row.want {
					t.Errorf("have %s", a.Value)
				}
				return
			}
			a.refused(t, fault.Config, path+row.want)
			if strings.Contains(a.Text, "\n") {
				t.Errorf("more than one line: %q", a.Text)
			}
		})
	}
	must(t, os.WriteFile(path, []byte("{}"), 0o644))
	must(t, os.Chmod(path, 0o664))
	as(t, u, "audit", root).refused(t, fault.Denied, "no writing for group and others")
	must(t, os.Remove(path))
	must(t, os.Symlink("/etc/passwd", path))
	as(t, u, "settings", root).refused(t, fault.Denied, "a symbolic link, want a file")
}

func TestEvents(t *testing.T) {
	u := testuser.New(t)
	root := box(t, u)
	path := filepath.Join(root, u.Name, ".state/events.ndjson")
	as(t, u, "note", root).ok(t)
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	file.WriteString(`{"torn":"by a full di`)
	file.Close()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { as(t, u, "notes", root, "100") })
	}
	wg.Wait()
	whole, torn := 0, 0
	file, err = os.Open(path)
	must(t, err)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var e Event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			torn++
		} else if e.Name != "" && e.Site == "example.com" && time.Since(e.Time) < time.Hour {
			whole++
		}
	}
	if whole != 401 || torn != 1 {
		t.Errorf("%d whole lines and %d torn, want 401 and 1", whole, torn)
	}
	if info, _ := file.Stat(); info.Mode() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestEventsAreAClosedList(t *testing.T) {
	s := Seat{Root: "/nonexistent", Name: "x", UID: os.Getuid()}
	for _, e := range []Event{
		{Name: ""}, {Name: "viewer_minted "}, {Name: "anything"}, {Name: Served, Site: "../x"}, {Name: Served, Fields: map[string]string{"nonce": "x"}},
		{Name: Served, Fields: map[string]string{"Bad Name": "x"}}, {Name: Served, Fields: map[string]string{"reason": strings.Repeat("x", 5000)}},
	} {
		if err := s.Note(e); fault.Of(err) != fault.Failed && fault.Of(err) != fault.Usage {
			t.Errorf("%+v: %v", e, err)
		}
	}
}
