package seat

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/testuser"
)

func TestEmbedded(t *testing.T) {
	u := testuser.New(t)
	root := filepath.Join(u.Home, "store")
	as(t, u, "audit", root).refused(t, fault.Denied, "there is none")
	as(t, u, "ensure", root).ok(t)
	as(t, u, "ensure", root).ok(t)
	as(t, u, "make", root, "example.com").ok(t)
	as(t, u, "profile", root, "example.com").ok(t)
	if got := as(t, u, "current", root).ok(t).Value; got != filepath.Join(root, u.Name)+" embedded=true" {
		t.Error(got)
	}
	for path, want := range map[string]os.FileMode{root: 0o711, root + "/" + u.Name: 0o700, root + "/" + u.Name + "/.run": 0o700, root + "/" + u.Name + "/example.com/chrome": 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
}

func TestEmbeddedRules(t *testing.T) {
	u, attacker := testuser.New(t), testuser.New(t)
	give := func(t *testing.T, path string, who testuser.User, mode uint32) {
		must(t, os.MkdirAll(path, 0o755))
		must(t, os.Chown(path, who.UID, who.GID))
		must(t, unix.Chmod(path, mode))
	}
	for _, row := range []struct {
		name  string
		plant func(t *testing.T, top, root string)
		words string // "" if it is fine
	}{
		{"as made", func(*testing.T, string, string) {}, ""},
		{"mktemp -d", func(t *testing.T, _, root string) { give(t, root, u, 0o700) }, ""},
		{"sticky parent of root's", func(t *testing.T, top, _ string) { must(t, unix.Chmod(top, 0o1777)); must(t, os.Chown(top, 0, 0)) }, ""},
		{"root's parent, made before", func(t *testing.T, top, root string) { must(t, os.Chown(top, 0, 0)); give(t, root, u, 0o711) }, ""},
		{"mount point", func(t *testing.T, _, root string) {
			must(t, os.Mkdir(root, 0o700))
			must(t, unix.Mount("tmpfs", root, "tmpfs", 0, "mode=0711"))
			t.Cleanup(func() { unix.Unmount(root, 0) })
			must(t, os.Chown(root, u.UID, u.GID))
		}, ""},
		{"setgid parent", func(t *testing.T, top, _ string) {
			must(t, os.Chown(top, u.UID, attacker.GID))
			must(t, unix.Chmod(top, 0o2755))
		}, ""},
		{"store can be listed", func(t *testing.T, _, root string) { give(t, root, u, 0o755) }, "mode is 0755, want 0711"},
		{"store made by another", func(t *testing.T, _, root string) { give(t, root, attacker, 0o711) }, "owner is " + attacker.Name},
		{"store a link", func(t *testing.T, top, root string) {
			give(t, top+"/real", u, 0o711)
			must(t, os.Symlink("real", root))
			must(t, os.Lchown(root, u.UID, u.GID))
		}, "a symbolic link"},
		{"parent of another", func(t *testing.T, top, _ string) { must(t, os.Chown(top, attacker.UID, attacker.GID)) }, "owner is " + attacker.Name},
		{"parent group-writable", func(t *testing.T, top, _ string) { must(t, unix.Chmod(top, 0o775)) }, "no writing for group and others"},
		{"sticky parent of the user's own", func(t *testing.T, top, _ string) { must(t, unix.Chmod(top, 0o1777)) }, "no writing for group and others"},
		{"world-writable parent of root's", func(t *testing.T, top, _ string) { must(t, unix.Chmod(top, 0o777)); must(t, os.Chown(top, 0, 0)) }, "no writing for group and others"},
		{"default ACL on the parent", func(t *testing.T, top, _ string) { sh(t, "setfacl", "-d", "-m", "u:"+attacker.Name+":rwx", top) }, "ACL is present"},
	} {
		t.Run(row.name, func(t *testing.T) {
			top, err := os.MkdirTemp("", "fdt-")
			must(t, err)
			t.Cleanup(func() { os.RemoveAll(top) })
			give(t, top, u, 0o755)
			root := filepath.Join(top, "store")
			row.plant(t, top, root)
			a := as(t, u, "ensure", root)
			if row.words != "" {
				a.refused(t, fault.Denied, row.words)
				return
			}
			a.ok(t)
			as(t, u, "make", root, "example.com").ok(t)
			as(t, u, "profile", root, "example.com").ok(t)
			as(t, u, "remove", root, "example.com").ok(t)
		})
	}
}

// TestUnitView: in a unit the store is an empty read-only tmpfs of root's with the one seat bound into it.
func TestUnitView(t *testing.T) {
	u := testuser.New(t)
	for _, row := range []struct{ name, flags, mode, words string }{
		{"as the unit has it", "ro", "0755", ""},
		{"a tmpfs that can be written", "rw", "0755", "mode is 0755"},
		{"group-writable", "ro", "0775", "no writing for group and others"},
	} {
		t.Run(row.name, func(t *testing.T) {
			root, _, _ := inhabited(t, u)
			cmd := exec.Command("/proc/self/exe", "as", "inunit", root, u.Name, row.flags, row.mode)
			cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
			if out := ask(t, cmd).ok(t).Value; !strings.Contains(out, row.words) || (row.words == "") != (out == "") {
				t.Errorf("the seat in the unit: %q, want %q", out, row.words)
			}
		})
	}
}

func init() {
	// inunit, as root in a mount namespace of its own, builds the view and audits in it as the seat.
	verbs["inunit"] = func(a []string) (string, error) {
		root, name, flags := a[0], a[1], a[2]
		s, err := Named(root, name)
		if err != nil {
			return "", err
		}
		script := `set -e
			mount --make-rprivate /
			mkdir /run/fdt-hold-$$; mount --bind "$1/$2" /run/fdt-hold-$$
			mount -t tmpfs -o "mode=$4" tmpfs "$1"
			mkdir -m 0755 "$1/$2"; mount --move /run/fdt-hold-$$ "$1/$2"; rmdir /run/fdt-hold-$$
			mount -o "remount,$3" "$1"`
		if out, err := exec.Command("sh", "-c", script, "sh", root, name, flags, a[3]).CombinedOutput(); err != nil {
			return string(out), err
		}
		out, err := testuser.Self(testuser.User{Name: name, UID: s.UID, GID: s.GID, Home: "/"}, "as", "profile", root, "example.com").Output()
		_, words, _ := strings.Cut(string(out), `"Text":"`)
		words, _, _ = strings.Cut(words, `"`)
		return words, err
	}
}
