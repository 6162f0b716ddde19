package seat

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/testuser"
)

// inhabited is a box whose one seat has a profile as Chrome leaves it, its three links included.
func inhabited(t testing.TB, u testuser.User) (root, seat, profile string) {
	t.Helper()
	root = box(t, u)
	for _, a := range asEach(t, u, []string{"ensure", "make"}, root, "example.com") {
		a.ok(t)
	}
	seat = filepath.Join(root, u.Name)
	profile = filepath.Join(seat, "example.com")
	out, err := shAs(u, "sh", "-ec", `cd "$1"
		mkdir -p -m 0700 chrome/Default/Network
		echo x > chrome/Default/Network/Cookies; echo x > "chrome/Local State"; (umask 022; echo x > chrome/First\ Run)
		ln -s host-1 chrome/SingletonLock; ln -s 123 chrome/SingletonCookie; ln -s /tmp/org/SingletonSocket chrome/SingletonSocket
		umask 077; echo '{}' > profile.json`, "sh", profile)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return root, seat, profile
}

// TestAudit is rows 33 to 36 of the threat table: each fault is refused by every command, to the seat and to root, with the path, what
// it has and what is wanted, and is still there afterwards.
func TestAudit(t *testing.T) {
	u, attacker := testuser.New(t), testuser.New(t)
	const (
		store  = 1 << iota // seen by whatever touches the store
		inside             // seen by whatever touches this profile
	)
	for _, row := range []struct {
		name  string
		level int
		plant func(t *testing.T, root, seat, profile string)
		words string
	}{
		{"seat 0711", store, func(t *testing.T, _, seat, _ string) { must(t, os.Chmod(seat, 0o711)) }, "mode is 0711, want 0700"},
		{"seat 0750", store, func(t *testing.T, _, seat, _ string) { must(t, os.Chmod(seat, 0o750)) }, "mode is 0750, want 0700"},
		{"seat group-writable", store, func(t *testing.T, _, seat, _ string) { must(t, os.Chmod(seat, 0o770)) }, "mode is 0770, want 0700"},
		{"seat setgid", store, func(t *testing.T, _, seat, _ string) { must(t, unix.Chmod(seat, 0o2700)) }, "mode is 2700, want 0700"},
		{"seat sticky", store, func(t *testing.T, _, seat, _ string) { must(t, unix.Chmod(seat, 0o1700)) }, "mode is 1700, want 0700"},
		{"seat 0500", store, func(t *testing.T, _, seat, _ string) { must(t, os.Chmod(seat, 0o500)) }, "mode is 0500, want 0700"},
		{"seat of another group", store, func(t *testing.T, _, seat, _ string) { must(t, os.Chown(seat, u.UID, attacker.GID)) }, "group is"},
		{"seat of another owner", store, func(t *testing.T, _, seat, _ string) {
			must(t, os.Chown(seat, attacker.UID, u.GID))
			must(t, os.Chmod(seat, 0o700))
		}, ""},
		{"seat a link to itself elsewhere", store, func(t *testing.T, _, seat, _ string) {
			must(t, os.Rename(seat, seat+"-real"))
			must(t, os.Symlink(filepath.Base(seat)+"-real", seat))
		}, "a symbolic link"},
		{"seat a file", store, func(t *testing.T, _, seat, _ string) {
			must(t, os.RemoveAll(seat))
			must(t, os.WriteFile(seat, nil, 0o700))
		}, "not a directory"},
		{"seat a FIFO", store, func(t *testing.T, _, seat, _ string) {
			must(t, os.RemoveAll(seat))
			must(t, unix.Mkfifo(seat, 0o700))
		}, "not a directory"},
		{"seat a mount point", store, func(t *testing.T, _, seat, _ string) {
			must(t, unix.Mount("tmpfs", seat, "tmpfs", 0, fmt.Sprintf("mode=0700,uid=%d,gid=%d", u.UID, u.GID)))
			t.Cleanup(func() { unix.Unmount(seat, 0) })
		}, "a mount point"},
		{"seat gone", store, func(t *testing.T, _, seat, _ string) { must(t, os.RemoveAll(seat)) }, "there is none"},
		{"access ACL on the seat", store, func(t *testing.T, _, seat, _ string) { sh(t, "setfacl", "-m", "u:"+attacker.Name+":rwx", seat) }, "mode is 0770"},
		{"access ACL on the seat, mode put back", store, func(t *testing.T, _, seat, _ string) {
			sh(t, "setfacl", "-m", "u:"+attacker.Name+":rwx", seat)
			must(t, os.Chmod(seat, 0o700))
		}, "ACL is present (access)"},
		{"default ACL on the seat", store, func(t *testing.T, _, seat, _ string) {
			sh(t, "setfacl", "-d", "-m", "u:"+attacker.Name+":rwx", seat)
		}, "ACL is present (default)"},
		{"default ACL on the store", store, func(t *testing.T, root, _, _ string) {
			sh(t, "setfacl", "-d", "-m", "u:"+attacker.Name+":rwx", root)
		}, "ACL is present (default)"},
		{"access ACL on the store", store, func(t *testing.T, root, _, _ string) {
			sh(t, "setfacl", "-m", "u:"+attacker.Name+":r", root)
			must(t, os.Chmod(root, 0o711))
		}, "ACL is present (access)"},
		{"store can be listed", store, func(t *testing.T, root, _, _ string) { must(t, os.Chmod(root, 0o755)) }, "mode is 0755, want 0711"},
		{"store world-writable", store, func(t *testing.T, root, _, _ string) { must(t, os.Chmod(root, 0o777)) }, "mode is 0777, want 0711"},
		{"store of the seat", store, func(t *testing.T, root, _, _ string) { must(t, os.Chown(root, u.UID, 0)) }, ""},
		{"parent group-writable", store, func(t *testing.T, root, _, _ string) { must(t, os.Chmod(filepath.Dir(root), 0o775)) }, "no writing for group and others"},
		{"parent sticky", store, func(t *testing.T, root, _, _ string) { must(t, unix.Chmod(filepath.Dir(root), 0o1777)) }, "no writing for group and others"},
		{"parent of another user", store, func(t *testing.T, root, _, _ string) { must(t, os.Chown(filepath.Dir(root), attacker.UID, 0)) }, "owner is"},

		{"profile 0711", inside, func(t *testing.T, _, _, p string) { must(t, os.Chmod(p, 0o711)) }, "mode is 0711, want 0700"},
		{"profile setgid", inside, func(t *testing.T, _, _, p string) { must(t, unix.Chmod(p, 0o2700)) }, "mode is 2700, want 0700"},
		{"profile of another owner", inside, func(t *testing.T, _, _, p string) { must(t, os.Chown(p, attacker.UID, u.GID)) }, ""},
		{"profile of another group", inside, func(t *testing.T, _, _, p string) { must(t, os.Chown(p, u.UID, attacker.GID)) }, "group is"},
		{"profile a link", inside, func(t *testing.T, _, _, p string) {
			must(t, os.Rename(p, p+"-real"))
			must(t, os.Symlink("example.com-real", p))
		}, "a symbolic link"},
		{"profile a file", inside, func(t *testing.T, _, _, p string) {
			must(t, os.RemoveAll(p))
			must(t, os.WriteFile(p, nil, 0o600))
		}, "not a directory"},
		{"profile a FIFO", inside, func(t *testing.T, _, _, p string) {
			must(t, os.RemoveAll(p))
			must(t, unix.Mkfifo(p, 0o600))
		}, "not a directory"},
		{"profile a mount point", inside, func(t *testing.T, _, _, p string) {
			must(t, unix.Mount("tmpfs", p, "tmpfs", 0, fmt.Sprintf("mode=0700,uid=%d,gid=%d", u.UID, u.GID)))
			t.Cleanup(func() { unix.Unmount(p, 0) })
		}, "a mount point"},
		{"access ACL on the profile", inside, func(t *testing.T, _, _, p string) {
			sh(t, "setfacl", "-m", "u:"+attacker.Name+":rwx", p)
			must(t, os.Chmod(p, 0o700))
		}, "ACL is present (access)"},
		{"default ACL on the profile", inside, func(t *testing.T, _, _, p string) {
			sh(t, "setfacl", "-d", "-m", "u:"+attacker.Name+":rwx", p)
		}, "ACL is present (default)"},
		{"chrome 0755", inside, func(t *testing.T, _, _, p string) { must(t, os.Chmod(p+"/chrome", 0o755)) }, "mode is 0755, want 0700"},
		{"chrome a link", inside, func(t *testing.T, _, _, p string) {
			must(t, os.Rename(p+"/chrome", p+"/real"))
			must(t, os.Symlink("real", p+"/chrome"))
		}, "a symbolic link"},
		{"hard-linked file", inside, func(t *testing.T, _, _, p string) {
			must(t, os.Link(p+"/chrome/Default/Network/Cookies", p+"/chrome/again"))
		}, "2 hard links"},
		{"hard link from outside", inside, func(t *testing.T, root, _, p string) {
			outside := filepath.Join(filepath.Dir(root), "outside")
			must(t, os.WriteFile(outside, []byte("root's"), 0o600))
			must(t, os.Link(outside, p+"/chrome/Preferences"))
		}, "owner is root"},
		{"foreign link", inside, func(t *testing.T, _, _, p string) {
			link(t, u, "/etc", p+"/chrome/Default/etc")
		}, "a symbolic link"},
		{"Singleton link outside chrome", inside, func(t *testing.T, _, _, p string) {
			link(t, u, "host-1", p+"/chrome/Default/SingletonLock")
		}, "a symbolic link"},
		{"Singleton link beside chrome", inside, func(t *testing.T, _, _, p string) { link(t, u, "host-1", p+"/SingletonLock") }, "a symbolic link"},
		{"profile.json a link", inside, func(t *testing.T, _, _, p string) {
			must(t, os.Remove(p+"/profile.json"))
			link(t, u, "/etc/passwd", p+"/profile.json")
		}, "a symbolic link"},
		{"FIFO in the profile", inside, func(t *testing.T, _, _, p string) {
			must(t, unix.Mkfifo(p+"/chrome/pipe", 0o600))
			must(t, os.Chown(p+"/chrome/pipe", u.UID, u.GID))
		}, "a FIFO"},
		{"device in the profile", inside, func(t *testing.T, _, _, p string) {
			must(t, unix.Mknod(p+"/chrome/null", unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))))
			must(t, os.Chown(p+"/chrome/null", u.UID, u.GID))
		}, "device"},
		{"another user's file", inside, func(t *testing.T, _, _, p string) {
			must(t, os.Chown(p+"/chrome/Default/Network/Cookies", attacker.UID, u.GID))
		}, "owner is " + attacker.Name},
		{"mount point in the profile", inside, func(t *testing.T, _, _, p string) {
			must(t, unix.Mount("tmpfs", p+"/chrome/Default", "tmpfs", 0, fmt.Sprintf("mode=0700,uid=%d,gid=%d", u.UID, u.GID)))
			t.Cleanup(func() { unix.Unmount(p+"/chrome/Default", 0) })
		}, "a mount point"},
		{"deep tree", inside, func(t *testing.T, _, _, p string) {
			out, err := shAs(u, "mkdir", "-p", p+"/chrome"+strings.Repeat("/d", 80))
			if err != nil {
				t.Fatal(out)
			}
		}, "nested too deeply"},
	} {
		t.Run(row.name, func(t *testing.T) {
			root, seat, profile := inhabited(t, u)
			row.plant(t, root, seat, profile)
			see := func() string {
				return facts(t, root) + facts(t, seat) + facts(t, profile) + facts(t, filepath.Dir(root)) + facts(t, profile+"/chrome")
			}
			before := see()
			// What touches the profile only, and what touches the store at all.
			list := []string{"profile", "make"}
			if row.level == store {
				list = append(list, "audit", "ensure", "sites", "settings", "note", "stamp", "lock", "remove")
			}
			for _, a := range asEach(t, u, list, root, "example.com") {
				a.refused(t, fault.Denied, row.words)
			}
			if err := rootAudit(root, u); fault.Of(err) != fault.Denied {
				t.Errorf("root's audit: %v", err)
			}
			if after := see(); after != before {
				t.Errorf("repaired or changed:\n%s\nto\n%s", before, after)
			}
			if row.level == store && row.name != "seat gone" {
				if err := build(root, u); fault.Of(err) != fault.Denied || see() != before {
					t.Errorf("setup: %v, %s", err, see())
				}
			}
		})
	}
}

// TestHintCures: what a refused mode says to try makes it right, set-id bits included.
func TestHintCures(t *testing.T) {
	u := testuser.New(t)
	root, _, profile := inhabited(t, u)
	for _, mode := range []uint32{0o755, 0o500, 0o4700, 0o2700, 0o1700, 0o7777} {
		must(t, unix.Chmod(profile, mode))
		a := as(t, u, "profile", root, "example.com")
		a.refused(t, fault.Denied, "want 0700")
		if out, err := shAs(u, "sh", "-c", a.Hint); err != nil {
			t.Fatalf("%s: %s", a.Hint, out)
		}
		as(t, u, "profile", root, "example.com").ok(t)
	}
}

func rootAudit(root string, u testuser.User) error {
	s := Seat{Root: root, Name: u.Name, UID: u.UID, GID: u.GID}
	return s.AuditProfile(Site{Host: "example.com"})
}

func link(t *testing.T, u testuser.User, target, path string) {
	t.Helper()
	must(t, os.Symlink(target, path))
	must(t, os.Lchown(path, u.UID, u.GID))
}

// TestSecondUserSeesNothing is row 39, with root's own eyes as the positive control.
func TestSecondUserSeesNothing(t *testing.T) {
	u, attacker := testuser.New(t), testuser.New(t)
	root, seat, profile := inhabited(t, u)
	for _, argv := range [][]string{
		{"ls", root}, {"ls", seat}, {"stat", profile}, {"stat", profile + "/chrome"}, {"cat", profile + "/profile.json"}, {"mkdir", root + "/" + attacker.Name}, {"touch", seat + "/x"},
		{"mv", seat, seat + "2"}, {"ln", "-s", "/etc", root + "/x"}, {"chmod", "0777", seat}, {"setfacl", "-m", "u:" + attacker.Name + ":rwx", seat},
	} {
		out, err := shAs(attacker, argv...)
		if err == nil || !(strings.Contains(out, "Permission denied") || strings.Contains(out, "not permitted")) {
			t.Errorf("%v as another user: %v: %s", argv, err, out)
		}
	}
	for _, argv := range [][]string{{"ls", root}, {"ls", seat}, {"stat", profile}, {"cat", profile + "/profile.json"}} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Errorf("control: %v: %v: %s", argv, err, out)
		}
	}
	// The seat itself cannot list the store either, and gets no seat of another.
	if out, err := shAs(u, "ls", root); err == nil || !strings.Contains(out, "Permission denied") {
		t.Errorf("the seat lists the store: %s", out)
	}
	as(t, attacker, "audit", root).refused(t, fault.Denied, "there is none")
	if a := as(t, attacker, "ensure", root); a.Hint != "sudo 5dive browser setup --seat="+attacker.Name {
		t.Errorf("hint %q", a.Hint)
	}
}

// TestRemoveOfABadProfile: what fails the audit may go, as long as it is a directory of the seat's own; with it goes its stamp.
func TestRemoveOfABadProfile(t *testing.T) {
	u, other := testuser.New(t), testuser.New(t)
	for _, row := range []struct {
		name, script string
		as           testuser.User
		words        string
	}{
		{"0755", `chmod 0755 "$1"`, u, ""},
		{"0500", `chmod 0500 "$1"`, u, ""},
		{"0000", `chmod 0000 "$1"`, u, ""},
		{"shut inside", `chmod 0000 "$1/chrome/Default"; chmod 0500 "$1/chrome"`, u, ""},
		{"ACL", `setfacl -m u:` + other.Name + `:rwx "$1"`, u, ""},
		{"deep", `cd "$1/chrome"; for i in $(seq 300); do mkdir d; cd d; done; mkdir -m 0500 e; touch f; chmod 0500 .`, u, ""},
		{"a link", `mv "$1" "$1-real"; ln -s "$1-real" "$1"`, u, "a symbolic link"},
		{"a file", `rm -r "$1"; touch "$1"`, u, "not a directory"},
		{"another's", `chown ` + other.Name + ` "$1"`, testuser.User{}, "owner is " + other.Name},
	} {
		t.Run(row.name, func(t *testing.T) {
			root, seat, profile := inhabited(t, u)
			stamp := seat + "/.state/stamps/example.com"
			sh(t, "sh", "-ec", `install -d -m 0700 -o "$1" -g "$2" "$3"; echo '{}' > "$3/example.com"`, "sh", fmt.Sprint(u.UID), fmt.Sprint(u.GID), filepath.Dir(stamp))
			plant := exec.Command("sh", "-ec", row.script, "sh", profile)
			if row.as.UID != 0 {
				plant = testuser.Command(u, "sh", "-ec", row.script, "sh", profile)
			}
			if out, err := plant.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			a := as(t, u, "remove", root, "example.com")
			if row.words != "" {
				a.refused(t, fault.Denied, row.words)
				if facts(t, profile) == "none" || facts(t, stamp) == "none" {
					t.Error("a refusal removed something")
				}
				return
			}
			a.ok(t)
			if left, err := filepath.Glob(seat + "/[.e][gx]*"); err != nil || len(left) > 0 || facts(t, stamp) != "none" {
				t.Errorf("left: %q, %s, %v", left, facts(t, stamp), err)
			}
		})
	}
}

// TestRemoveIsFinished: what a removal could not delete stays and is told, hinders no other, and goes with the next once it can.
func TestRemoveIsFinished(t *testing.T) {
	u := testuser.New(t)
	root, seat, profile := inhabited(t, u)
	as(t, u, "make", root, "example.org").ok(t)
	as(t, u, "make", root, "example.net").ok(t)
	must(t, os.Mkdir(profile+"/foreign", 0o700))
	must(t, os.WriteFile(profile+"/foreign/kept", nil, 0o600))
	as(t, u, "remove", root, "example.com").refused(t, fault.Failed, "permission denied")
	as(t, u, "remove", root, "example.org").ok(t)
	as(t, u, "remove", root, "example.com").refused(t, fault.Failed, "cannot finish an earlier removal")
	left, _ := filepath.Glob(seat + "/.gone-*")
	if len(left) != 1 {
		t.Fatalf("left: %q", left)
	}
	must(t, os.RemoveAll(left[0]+"/foreign"))
	as(t, u, "remove", root, "example.net").ok(t)
	if left, _ := filepath.Glob(seat + "/.gone-*"); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

func TestProfileUnknown(t *testing.T) {
	u := testuser.New(t)
	root, _, _ := inhabited(t, u)
	for _, verb := range []string{"profile", "remove"} {
		as(t, u, verb, root, "example.org").refused(t, fault.Usage, "there is none")
	}
	as(t, u, "stamp", root, "example.org").ok(t)
	for _, id := range []string{"..", "a/b", "-x", "", ".state"} {
		as(t, u, "make", root, id).refused(t, fault.Usage, "cannot use site name")
	}
	if a := as(t, u, "sites", root).ok(t); a.Value != "example.com" {
		t.Errorf("sites %q", a.Value)
	}
}
