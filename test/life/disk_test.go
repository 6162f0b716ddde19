package life_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/test/scene"
)

// A full disk: the verbs say so in one line, nothing half-written stands in a JSON file, and with space everything works again.
func TestFullDisk(t *testing.T) {
	s := scene.New(t)
	small(t, s, "64m")
	s.SignIn(true)
	s.Stop()
	for _, left := range []int{0, 64 << 10, 1 << 20} {
		t.Run(fmt.Sprintf("%d bytes left", left), func(t *testing.T) {
			fill(t, s, left)
			_, err := s.TryServe("/account")
			if err != nil {
				lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
				t.Log(lines)
				for _, line := range lines {
					if strings.Contains(line, "goroutine ") || strings.Contains(line, "panic") {
						t.Errorf("no clear line: %v", err)
					}
				}
			}
			whole(t, s)
			s.Stage.Verb(scene.Limit(t, soon*8), "serve", scene.Name, "--stop")
			whole(t, s)
			empty(t, s)
			s.Kept(true)
			whole(t, s)
			s.Events() // each line is an event
		})
	}
}

// small puts the seat's store on a file system of its own.
func small(t *testing.T, s *scene.Scene, size string) {
	t.Helper()
	if err := unix.Mount("tmpfs", s.Stage.Root, "tmpfs", 0, fmt.Sprintf("size=%s,mode=0711,uid=%d,gid=%d", size, s.Stage.UID, s.Stage.GID)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Ends()
		if err := unix.Unmount(s.Stage.Root, 0); err != nil {
			t.Errorf("cannot unmount: %v", err)
		}
	})
}

func filler(s *scene.Scene) string { return filepath.Join(s.Stage.Root, "filler") }

// fill leaves that many bytes of the store's disk.
func fill(t *testing.T, s *scene.Scene, left int) {
	t.Helper()
	file, err := os.Create(filler(s))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for block := make([]byte, 64<<10); ; {
		if _, err := file.Write(block); err != nil {
			break
		}
	}
	for page := make([]byte, 4<<10); ; {
		if _, err := file.Write(page); err != nil {
			break
		}
	}
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Truncate(max(0, info.Size()-int64(left))); err != nil {
		t.Fatal(err)
	}
}

func empty(t *testing.T, s *scene.Scene) {
	t.Helper()
	if err := os.Remove(filler(s)); err != nil {
		t.Fatal(err)
	}
}

// whole holds every JSON file of ours to being JSON.
func whole(t *testing.T, s *scene.Scene) {
	t.Helper()
	filepath.WalkDir(s.Stage.Dir(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && e.Name() == "chrome" {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".json") {
			if text, err := os.ReadFile(path); err == nil && !json.Valid(text) {
				t.Errorf("half-written: %s: %.80q", path, text)
			}
		}
		return nil
	})
}
