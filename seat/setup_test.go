package seat

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/testuser"
)

// facts is what an attack would change: type, mode, owner and links of path, and the names in it.
func facts(t testing.TB, path string) string {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		return "none"
	}
	st := info.Sys().(*syscall.Stat_t)
	text := fmt.Sprintf("%o %d:%d %d", st.Mode, st.Uid, st.Gid, st.Nlink)
	if info.IsDir() {
		entries, err := os.ReadDir(path)
		must(t, err)
		for _, entry := range entries {
			text += " " + entry.Name()
		}
	}
	return text
}

func TestSetup(t *testing.T) {
	one, two := testuser.New(t), testuser.New(t)
	top := place(t)
	root, x11 := filepath.Join(top, "a", "profiles"), filepath.Join(top, "x11")
	var told []string
	run := func(act bool, names ...string) {
		t.Helper()
		told = nil
		b := &builder{act: act, report: func(s string) { told = append(told, s) }, sockets: x11}
		must(t, setup(root, names, b))
	}

	run(false, one.Name, two.Name)
	if len(told) != 5 || !strings.HasPrefix(told[0], "would make "+filepath.Dir(root)) || facts(t, filepath.Dir(root)) != "none" {
		t.Fatalf("a check says %q and leaves %s", told, facts(t, filepath.Dir(root)))
	}
	run(true, one.Name)
	want := []string{"made " + filepath.Dir(root) + " (0755 root)", "made " + root + " (0711 root)", "made " + filepath.Join(root, one.Name) + " (0700 " + one.Name + ")",
		"made " + x11 + " (1777 root)"}
	if strings.Join(told, "\n") != strings.Join(want, "\n") {
		t.Fatalf("set up: %q, want %q", told, want)
	}
	first := facts(t, root) + facts(t, filepath.Join(root, one.Name))
	run(true, one.Name)
	run(false, one.Name)
	if len(told) != 0 || first != facts(t, root)+facts(t, filepath.Join(root, one.Name)) {
		t.Fatalf("a second run says %q", told)
	}
	run(true, one.Name, two.Name)
	if len(told) != 1 {
		t.Fatalf("one more seat: %q", told)
	}
	for _, u := range []testuser.User{one, two} {
		as(t, u, "audit", root).ok(t)
		as(t, u, "ensure", root).ok(t)
		as(t, u, "make", root, "example.com").ok(t)
		as(t, u, "profile", root, "example.com").ok(t)
		if got := as(t, u, "current", root).ok(t).Value; got != filepath.Join(root, u.Name)+" embedded=false" {
			t.Errorf("seat: %s", got)
		}
		if got := as(t, u, "sites", root).ok(t).Value; got != "example.com" {
			t.Errorf("sites: %q", got)
		}
	}
}

func TestSetupNeedsRootAndUsers(t *testing.T) {
	u := testuser.New(t)
	root := filepath.Join(place(t), "profiles")
	for _, names := range [][]string{{"root"}, {u.Name, "nosuchuser"}, {"../x"}, {u.Name, ""}} {
		if err := setup(root, names, &builder{act: true, sockets: root + "-x11"}); err == nil {
			t.Errorf("%q: set up", names)
		}
		if facts(t, root) != "none" {
			t.Fatalf("%q: something was made before the refusal", names)
		}
	}
	a := as(t, u, "rootsetup", root)
	a.refused(t, fault.Denied, "want root")
	if a.Hint == "" {
		t.Error("no hint")
	}
}

func init() {
	verbs["rootsetup"] = func(a []string) (string, error) { return "", Setup(a[0], nil, nil) }
	verbs["rootremove"] = func(a []string) (string, error) { return "", Remove(a[0], a[1], true, nil) }
}

// TestPrecreated: whatever stands where root would make a directory is refused and not touched, also what it leads to.
func TestPrecreated(t *testing.T) {
	u, attacker := testuser.New(t), testuser.New(t)
	for _, row := range []struct {
		name  string
		plant func(t *testing.T, root, seat, victim string)
		words string
	}{
		{"seat is another user's", func(t *testing.T, _, seat, _ string) {
			must(t, os.Mkdir(seat, 0o700))
			must(t, os.Chown(seat, attacker.UID, attacker.GID))
		}, "owner is " + attacker.Name},
		{"seat is a link", func(t *testing.T, _, seat, victim string) { must(t, os.Symlink(victim, seat)) }, "a symbolic link"},
		{"seat is a link to nothing", func(t *testing.T, _, seat, victim string) { must(t, os.Symlink(victim+"-none", seat)) }, "a symbolic link"},
		{"seat is a file", func(t *testing.T, _, seat, _ string) { must(t, os.WriteFile(seat, nil, 0o600)) }, "not a directory"},
		{"seat is a FIFO", func(t *testing.T, _, seat, _ string) { must(t, unix.Mkfifo(seat, 0o666)) }, "not a directory"},
		{"seat is root's and has something in it", func(t *testing.T, _, seat, _ string) { must(t, os.MkdirAll(seat+"/x", 0o700)) }, "owner is root"},
		{"seat is root's and open", func(t *testing.T, _, seat, _ string) { must(t, os.Mkdir(seat, 0o755)) }, "owner is root"},
		{"seat is a mount point", func(t *testing.T, _, seat, _ string) {
			must(t, os.Mkdir(seat, 0o700))
			must(t, unix.Mount("tmpfs", seat, "tmpfs", 0, fmt.Sprintf("mode=0700,uid=%d,gid=%d", u.UID, u.GID)))
			t.Cleanup(func() { unix.Unmount(seat, 0) })
		}, "a mount point"},
		{"store is another user's", func(t *testing.T, root, _, _ string) { must(t, os.Chown(root, attacker.UID, 0)) }, "owner is " + attacker.Name},
		{"store is group-writable", func(t *testing.T, root, _, _ string) { must(t, os.Chmod(root, 0o771)) }, "mode is 0771, want 0711"},
		{"store can be listed", func(t *testing.T, root, _, _ string) { must(t, os.Chmod(root, 0o755)) }, "mode is 0755, want 0711"},
		{"parent is group-writable", func(t *testing.T, root, _, _ string) { must(t, os.Chmod(filepath.Dir(root), 0o775)) }, "no writing for group and others"},
		{"parent is sticky", func(t *testing.T, root, _, _ string) { must(t, os.Chmod(filepath.Dir(root), 0o777|os.ModeSticky)) }, "no writing for group and others"},
		{"parent is another user's", func(t *testing.T, root, _, _ string) { must(t, os.Chown(filepath.Dir(root), attacker.UID, 0)) }, "owner is " + attacker.Name},
		{"parent is a link", func(t *testing.T, root, _, _ string) {
			must(t, os.Rename(filepath.Dir(root), filepath.Dir(root)+"-moved"))
			t.Cleanup(func() { os.RemoveAll(filepath.Dir(root) + "-moved") })
			must(t, os.Symlink(filepath.Dir(root)+"-moved", filepath.Dir(root)))
		}, "a symbolic link"},
		{"parent is shut to seats", func(t *testing.T, root, _, _ string) { must(t, os.Chmod(filepath.Dir(root), 0o700)) }, "searchable"},
		{"X's directory is another user's", func(t *testing.T, root, _, _ string) {
			must(t, os.Chown(filepath.Dir(root)+"/x11", attacker.UID, attacker.GID))
		}, "owner is " + attacker.Name},
		{"X's directory is a link", func(t *testing.T, root, _, victim string) {
			must(t, os.Remove(filepath.Dir(root)+"/x11"))
			must(t, os.Symlink(victim, filepath.Dir(root)+"/x11"))
		}, "a symbolic link"},
	} {
		t.Run(row.name, func(t *testing.T) {
			root := box(t)
			victim := filepath.Join(attacker.Home, "victim")
			must(t, os.MkdirAll(victim, 0o750))
			seat := filepath.Join(root, u.Name)
			row.plant(t, root, seat, victim)
			before := facts(t, root) + facts(t, seat) + facts(t, victim) + facts(t, filepath.Dir(root))
			err := build(root, u)
			if fault.Of(err) != fault.Denied || !strings.Contains(err.Error(), row.words) {
				t.Fatalf("have %v, want %q", err, row.words)
			}
			if row.name[0] == 'X' {
				return // the seat itself was made before
			}
			if after := facts(t, root) + facts(t, seat) + facts(t, victim) + facts(t, filepath.Dir(root)); after != before {
				t.Fatalf("changed\n%s\nto\n%s", before, after)
			}
		})
	}
}

// TestUnfinished: root died between making a seat's directory and giving it away.
func TestUnfinished(t *testing.T) {
	u := testuser.New(t)
	root := box(t)
	must(t, os.Mkdir(filepath.Join(root, u.Name), 0o700))
	must(t, build(root, u))
	as(t, u, "audit", root).ok(t)
}

// TestSockets: the mode of X's directory is put right where only root can have set it.
func TestSockets(t *testing.T) {
	root := box(t)
	x11 := filepath.Join(filepath.Dir(root), "x11")
	must(t, os.Chmod(x11, 0o755))
	must(t, build(root))
	if got := facts(t, x11); !strings.HasPrefix(got, "41777 0:0") {
		t.Fatalf("X's directory is %s", got)
	}
	must(t, Check("", nil, func(string) {})) // on this box as it is, changing nothing
}

func ownedBy(info os.FileInfo, u testuser.User) bool {
	return int(info.Sys().(*syscall.Stat_t).Uid) == u.UID
}
