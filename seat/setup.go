package seat

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/safefile"
)

// Setup makes, as root, the store (0711) and for each user a seat (0700, his own), and sees to the directory of X's sockets. It says
// each thing that it makes to report; a second run makes nothing. What exists is held to its rule and never changed:
// somebody who could put a wrong directory there should be looked for, not helped.
//
// All users are looked up before anything is made. Root makes nothing below a seat's directory.
func Setup(root string, users []string, report func(string)) error {
	if os.Geteuid() != 0 {
		return fault.New(fault.Denied, "cannot set up the store: this is uid %d, want root", os.Geteuid()).Try("sudo 5dive browser setup")
	}
	return setup(root, users, &builder{act: true, report: report, sockets: socketsDir})
}

// Check tells report what Setup would make, and returns what it would refuse. It changes nothing and needs root only
// where a seat's directory is looked into.
func Check(root string, users []string, report func(string)) error {
	return setup(root, users, &builder{report: report, sockets: socketsDir})
}

// builder makes directories, or says what it would make.
type builder struct {
	act     bool
	report  func(string)
	sockets string // directory of X's sockets
}

func setup(root string, users []string, b *builder) error {
	path, err := rootPath(root)
	if err != nil {
		return err
	}
	seats := make([]Seat, 0, len(users))
	for _, name := range users {
		s := Seat{Root: path, Name: name}
		if s.UID, s.GID, err = account(name); err != nil {
			return err
		}
		seats = append(seats, s)
	}
	store, err := b.store(path)
	if err != nil {
		return err
	}
	if store != nil {
		defer store.Close()
	}
	for _, s := range seats {
		if err := b.seat(store, s); err != nil {
			return err
		}
	}
	return b.socketsDir()
}

// store walks down to the store, making what is missing: 0755 above, 0711 itself. It is nil where Check would make it.
func (b *builder) store(path string) (*safefile.Dir, error) {
	at, err := safefile.Root()
	if err != nil {
		return nil, denied("/", err)
	}
	so := ""
	for _, name := range above(path) {
		so += "/" + name
		if at, err = b.next(at, so, 0o755, searchable); err != nil {
			return nil, err
		}
	}
	return b.next(at, path, 0o711, boxRoot.check)
}

// searchable holds an ancestor that root sets up: safe, and open to the seats that must pass.
func searchable(d *safefile.Dir) error {
	if err := (Seat{}).checkAbove(d); err != nil {
		return err
	}
	st, err := d.Stat()
	if err == nil && st.Mode&0o001 == 0 {
		return refuse(d.Path(), "mode", octal(st.Mode&0o7777), "searchable by everybody").Try("chmod a+x %s", d.Path())
	}
	return err
}

// next opens or makes the directory path in at, which it closes, and holds it to check. A Check that would make at (it is
// nil then) would make path too.
func (b *builder) next(at *safefile.Dir, path string, mode uint32, check func(*safefile.Dir) error) (*safefile.Dir, error) {
	if at != nil {
		defer at.Close()
	}
	dir, err := b.openOrMake(at, path, mode, "root")
	if err != nil || dir == nil {
		return nil, err
	}
	if err := check(dir); err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// openOrMake opens path in at for lookups, or makes it as root's own and says so; nil where Check would make it.
func (b *builder) openOrMake(at *safefile.Dir, path string, mode uint32, whose string) (*safefile.Dir, error) {
	if at != nil {
		dir, err := at.Step(filepath.Base(path))
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, denied(path, err)
		}
	}
	b.say("%s (%s %s)", path, octal(mode), whose)
	if !b.act {
		return nil, nil
	}
	dir, err := at.Make(filepath.Base(path), mode)
	if err != nil {
		return nil, denied(path, err)
	}
	return dir, nil
}

// seat makes <root>/<seat>. The store can be written by root alone, so nobody can swap the name; still everything is done
// to the descriptor. One that root made and left unfinished (empty, still his) is finished.
func (b *builder) seat(store *safefile.Dir, s Seat) error {
	dir, err := b.openOrMake(store, s.Dir(), 0o700, s.Name)
	if err != nil || dir == nil {
		return err
	}
	dir.Close()
	if dir, err = store.Sub(s.Name); err != nil { // to look into; a mount point is refused here
		return denied(s.Dir(), err)
	}
	defer dir.Close()
	if b.act && unfinished(dir) {
		if err := give(dir, s); err != nil {
			return err
		}
	}
	if !b.act && unfinished(dir) {
		b.say("%s (%s %s)", s.Dir(), octal(0o700), s.Name)
		return nil
	}
	return closed(s.UID, s.GID).check(dir)
}

// unfinished tells a directory that root made a moment ago, or just before a crash: his own, shut and empty.
func unfinished(dir *safefile.Dir) bool {
	if closed(0, 0).check(dir) != nil {
		return false
	}
	names, err := dir.Names()
	return err == nil && len(names) == 0
}

// give hands an opened directory to its seat.
func give(dir *safefile.Dir, s Seat) error {
	fd := int(dir.File().Fd())
	if err := errors.Join(unix.Fchown(fd, s.UID, s.GID), unix.Fchmod(fd, 0o700)); err != nil {
		return fault.New(fault.Failed, "cannot give %s to %s: %w", dir.Path(), s.Name, err)
	}
	return nil
}

func (b *builder) say(format string, args ...any) {
	verb := "made "
	if !b.act {
		verb = "would make "
	}
	if b.report != nil {
		b.report(verb + fmt.Sprintf(format, args...))
	}
}
