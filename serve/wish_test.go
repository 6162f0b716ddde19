package serve

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/seat"
)

// TestResumeDropsBadWishes: what no serve would take is told once and forgotten, and makes no profile; a profile that may be mended stays wanted.
func TestResumeDropsBadWishes(t *testing.T) {
	s, site := stored(t)
	bad := seat.Site{Host: "bad.com"}
	if err := errors.Join(s.config.Seat.Make(bad), os.Chmod(s.config.Seat.Profile(bad), 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.wishPath(), []byte("null"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := request{"https://example.com/", 1280, 800}
	for _, id := range []string{"../x", "Upper.com", "gone.com", bad.ID()} {
		s.wish(id, good)
	}
	s.wish(site.ID(), request{"file:///etc/passwd", 1280, 800})
	s.resume()
	if left := slices.Collect(maps.Keys(s.wishes())); !slices.Equal(left, []string{bad.ID()}) {
		t.Errorf("wished still: %q", left)
	}
	s.wish(site.ID(), request{"https://example.com/", 1, 800})
	s.resume()
	if _, still := s.wishes()[site.ID()]; still {
		t.Error("a screen of one pixel is wished still")
	}
	if _, err := os.Lstat(s.config.Seat.Profile(seat.Site{Host: "gone.com"})); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the profile that was gone: %v", err)
	}
}

// TestNoProfileWithoutItsLock: what cannot be locked (a full disk) is not there to be listed afterwards; a profile that was there stays.
func TestNoProfileWithoutItsLock(t *testing.T) {
	s, site := stored(t)
	fresh := seat.Site{Host: "new.example"}
	for _, one := range []seat.Site{fresh, site} {
		if err := os.MkdirAll(filepath.Join(s.config.Seat.Run(), "locks", one.ID()), 0o700); err != nil { // stands in the way
			t.Fatal(err)
		}
		_, _, err := s.profile(one).prepare(t.Context(), request{one.URL(), 1280, 800}, func(string) {})
		if fault.Of(err) != fault.Denied {
			t.Fatalf("%s: %v", one, err)
		}
	}
	if sites, err := s.config.Seat.Sites(); err != nil || !slices.Equal(sites, []seat.Site{site}) {
		t.Errorf("listed: %v, %v", sites, err)
	}
}

func TestStoreTooLongForASocket(t *testing.T) {
	root := "/tmp/" + strings.Repeat("x", 100)
	if err := fits(seat.Seat{Root: root, Name: "alice"}); fault.Of(err) != fault.Config || fault.Hint(err) == "" {
		t.Errorf("have %v", err)
	}
	if err := fits(seat.Seat{Root: seat.DefaultRoot, Name: "abcdefghijklmnopqrstuvwxyz012345"}); err != nil {
		t.Errorf("a box with the longest name of a user: %v", err)
	}
}
