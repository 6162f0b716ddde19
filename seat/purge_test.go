package seat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/testuser"
)

func TestRemoveSeat(t *testing.T) {
	u, other := testuser.New(t), testuser.New(t)
	root, seat, _ := inhabited(t, u)
	must(t, build(root, u, other))
	var told []string
	say := func(s string) { told = append(told, s) }

	as(t, u, "rootremove", root, u.Name).refused(t, fault.Denied, "want root")
	for _, name := range []string{"..", "", ".", "a/b", ".state"} {
		if err := Remove(root, name, true, say); fault.Of(err) != fault.Usage {
			t.Errorf("%q: %v", name, err)
		}
	}
	must(t, Remove(root, u.Name, false, say))
	if len(told) != 1 || !strings.HasPrefix(told[0], "kept "+seat) {
		t.Fatalf("without purge: %q", told)
	}
	as(t, u, "profile", root, "example.com").ok(t)
	must(t, Remove(root, u.Name, true, say))
	if facts(t, seat) != "none" || told[len(told)-1] != "removed "+seat {
		t.Fatalf("with purge: %q, %s", told, facts(t, seat))
	}
	as(t, other, "audit", root).ok(t)
	must(t, Remove(root, u.Name, true, say))
}

// TestPurgeHasTheSeatsRights: what the seat could not delete itself stays, and the removal says so.
func TestPurgeHasTheSeatsRights(t *testing.T) {
	u := testuser.New(t)
	root, seat, profile := inhabited(t, u)
	foreign := filepath.Join(profile, "foreign")
	must(t, os.Mkdir(foreign, 0o700))
	must(t, os.WriteFile(foreign+"/kept", nil, 0o600))
	err := Remove(root, u.Name, true, func(string) {})
	if fault.Of(err) != fault.Failed || !strings.Contains(err.Error(), "permission denied") {
		t.Fatalf("have %v", err)
	}
	if facts(t, foreign+"/kept") == "none" {
		t.Fatal("root's file is gone")
	}
	must(t, os.RemoveAll(foreign))
	must(t, Remove(root, u.Name, true, func(string) {}))
	if facts(t, seat) != "none" {
		t.Errorf("left: %s", facts(t, seat))
	}
	// The rights were borrowed by one thread that is gone: this process is root as before.
	must(t, os.WriteFile(filepath.Join(root, "probe"), nil, 0o600))
}

// TestPurgeRefuses: what stands under the seat's name must be a seat.
func TestPurgeRefuses(t *testing.T) {
	u := testuser.New(t)
	for name, plant := range map[string]func(seat, victim string){
		"link":       func(seat, victim string) { must(t, os.Symlink(victim, seat)) },
		"root's own": func(seat, _ string) { must(t, os.MkdirAll(seat+"/kept", 0o700)) },
		"daemon's": func(seat, _ string) {
			must(t, os.MkdirAll(seat+"/kept", 0o700))
			must(t, os.Chown(seat, 1, 1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := box(t)
			seat, victim := filepath.Join(root, u.Name), filepath.Join(filepath.Dir(root), "victim")
			must(t, os.MkdirAll(victim+"/kept", 0o700))
			plant(seat, victim)
			if err := Remove(root, u.Name, true, func(string) {}); fault.Of(err) != fault.Denied {
				t.Errorf("have %v", err)
			}
			if facts(t, victim+"/kept") == "none" || (name != "link" && facts(t, seat+"/kept") == "none") {
				t.Error("something was deleted")
			}
		})
	}
}
