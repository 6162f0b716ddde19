package safefile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// scene is an opened directory with one of each kind of thing in it, and something outside it.
func scene(t *testing.T) (*Dir, string) {
	t.Helper()
	top := t.TempDir()
	in := filepath.Join(top, "in")
	must(t, os.MkdirAll(in+"/sub", 0o700))
	must(t, os.MkdirAll(top+"/out/deep", 0o700))
	must(t, os.WriteFile(top+"/out/kept", []byte("kept"), 0o600))
	must(t, os.WriteFile(in+"/file", []byte("text"), 0o600))
	must(t, os.Symlink("file", in+"/link"))
	must(t, os.Symlink("../out", in+"/outlink"))
	must(t, os.Symlink("none", in+"/dangling"))
	must(t, os.Link(top+"/out/kept", in+"/hard"))
	must(t, unix.Mkfifo(in+"/fifo", 0o600))
	dir, err := Open(in)
	must(t, err)
	t.Cleanup(dir.Close)
	return dir, top
}

func TestReadRefuses(t *testing.T) {
	dir, _ := scene(t)
	for _, row := range []struct {
		name string
		want error
	}{
		{"file", nil}, {"link", unix.ELOOP}, {"dangling", unix.ELOOP}, {"hard", ErrLinked}, {"fifo", ErrNotRegular}, {"sub", ErrNotRegular}, {"none", fs.ErrNotExist},
		{"", fs.ErrInvalid}, {".", fs.ErrInvalid}, {"..", fs.ErrInvalid}, {"../out/kept", fs.ErrInvalid}, {"sub/x", fs.ErrInvalid}, {"a\x00", fs.ErrInvalid},
	} {
		data, err := dir.Read(row.name, 4)
		if !errors.Is(err, row.want) || (row.want == nil && string(data) != "text") {
			t.Errorf("%q: have %q, %v; want %v", row.name, data, err, row.want)
		}
	}
	if _, err := dir.Read("file", 3); !errors.Is(err, ErrLarge) {
		t.Errorf("limit: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir, top := scene(t)
	for _, path := range []string{"in", top + "/in/", top + "/in/outlink", top + "/in/outlink/deep", top + "/in/../out", top + "/in/file"} {
		if d, err := Open(path); err == nil {
			t.Errorf("%s: opened %s", path, d.Path())
		}
	}
	for name, want := range map[string]error{"outlink": unix.ELOOP, "dangling": unix.ELOOP, "file": unix.ENOTDIR, "fifo": unix.ENOTDIR, "none": fs.ErrNotExist, "..": fs.ErrInvalid} {
		if _, err := dir.Sub(name); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := dir.Step(name); !errors.Is(err, want) {
			t.Errorf("step %s: %v", name, err)
		}
	}
	if proc, err := Open("/proc"); err == nil {
		defer proc.Close()
		if _, err := proc.Step("self"); !errors.Is(err, unix.ELOOP) {
			t.Errorf("magic link: %v", err)
		}
	}
}

func TestMountPoint(t *testing.T) {
	root, err := Root()
	must(t, err)
	defer root.Close()
	if _, err := root.Sub("proc"); !errors.Is(err, unix.EXDEV) {
		t.Errorf("sub: %v", err)
	}
	for _, open := range []func(string) (*Dir, error){root.Mounted, root.Step} {
		d, err := open("proc")
		must(t, err)
		d.Close()
	}
}

func TestMake(t *testing.T) {
	dir, top := scene(t)
	old := unix.Umask(0o077)
	defer unix.Umask(old)
	must(t, unix.Chmod(top+"/in", 0o2777))
	for name, mode := range map[string]uint32{"a": 0o700, "b": 0o711, "c": 0o1777} {
		made, err := dir.Make(name, mode)
		must(t, err)
		st, err := made.Stat()
		must(t, err)
		if made.Close(); st.Mode&0o7777 != mode {
			t.Errorf("%s: mode %o, want %o", name, st.Mode&0o7777, mode)
		}
	}
	for _, name := range []string{"a", "file", "link", "dangling", "fifo"} {
		if _, err := dir.Make(name, 0o700); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReplace(t *testing.T) {
	dir, top := scene(t)
	for _, name := range []string{"new", "file", "link", "outlink", "hard", "fifo"} {
		must(t, dir.Replace(name, []byte("fresh"), 0o640))
		if data, err := dir.Read(name, 10); err != nil || string(data) != "fresh" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
		if info, _ := os.Lstat(filepath.Join(top, "in", name)); info.Mode() != 0o640 {
			t.Errorf("%s: mode %v", name, info.Mode())
		}
	}
	if data, _ := os.ReadFile(top + "/out/kept"); string(data) != "kept" {
		t.Errorf("the other name of a hard link was written: %q", data)
	}
	if err := dir.Replace("sub", nil, 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	names, err := dir.Names()
	must(t, err)
	if strings.Contains(strings.Join(names, " "), ".tmp-") {
		t.Errorf("temporary files are left: %q", names)
	}
}

// TestReplaceIsWhole: a reader never sees a part, and of many writers one wins.
func TestReplaceIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	must(t, Replace(path, bytes.Repeat([]byte{'0'}, 5000), 0o600))
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for range 50 {
				if err := Replace(path, bytes.Repeat([]byte{byte('a' + w)}, 5000+w), 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 500 {
		data, err := Read(path, 1<<20)
		must(t, err)
		if len(data) < 5000 || bytes.Count(data, data[:1]) != len(data) {
			t.Fatalf("torn: %d bytes", len(data))
		}
	}
	wg.Wait()
}

func TestEmpty(t *testing.T) {
	dir, top := scene(t)
	for i := range 300 {
		must(t, os.MkdirAll(fmt.Sprintf("%s/in/sub/%d/x", top, i), 0o700))
		must(t, os.WriteFile(fmt.Sprintf("%s/in/sub/%d/x/f", top, i), nil, 0o600))
	}
	must(t, dir.Empty())
	if names, err := dir.Names(); err != nil || len(names) != 0 {
		t.Errorf("left: %q, %v", names, err)
	}
	if data, _ := os.ReadFile(top + "/out/kept"); string(data) != "kept" {
		t.Error("something outside was touched")
	}
	must(t, dir.RemoveEntry("none"))
}

func TestEmptyTakesMoreDirectoriesThanItsBudget(t *testing.T) {
	top := t.TempDir()
	for i := range again + 100 {
		must(t, os.MkdirAll(fmt.Sprintf("%s/%d/x", top, i), 0o700))
	}
	dir, err := Open(top)
	must(t, err)
	defer dir.Close()
	must(t, dir.Empty())
}

// deepen makes a tree of that many levels below dir, one step at a time: its path is longer than the kernel takes at once.
func deepen(t *testing.T, dir *Dir, levels int) {
	t.Helper()
	at := dir
	for range levels {
		sub, err := at.Make("level", 0o700)
		must(t, err)
		file, err := sub.OpenFile("file", os.O_CREATE|os.O_WRONLY, 0o600)
		must(t, err)
		file.Close()
		if at != dir {
			at.Close()
		}
		at = sub
	}
	at.Close()
}

func TestEmptyTakesAnyDepth(t *testing.T) {
	dir, top := scene(t)
	deepen(t, dir, 5000)
	var limit unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	few := limit
	few.Cur = 200
	must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &few))
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	must(t, dir.Empty())
	if names, err := dir.Names(); err != nil || len(names) != 0 {
		t.Errorf("left: %q, %v", names, err)
	}
	deepen(t, dir, 300)
	must(t, dir.RemoveEntry("level"))
	if names, err := dir.Names(); err != nil || len(names) != 0 {
		t.Errorf("left: %q, %v", names, err)
	}
	if data, _ := os.ReadFile(top + "/out/kept"); string(data) != "kept" {
		t.Error("something outside was touched")
	}
}
