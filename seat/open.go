package seat

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/safefile"
)

// open opens the seat's directory from "/" down, holding everything on the way to its rule. The caller closes it.
func (s Seat) open() (*safefile.Dir, error) {
	root, err := s.openRoot()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	dir, err := s.enter(root)
	if err != nil {
		return nil, s.hinted(denied(s.Dir(), err))
	}
	if err := closed(s.UID, s.GID).check(dir); err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// enter opens <root>/<seat>. Only in the view of a unit may it be a mount point: there systemd binds it into an empty
// read-only tmpfs of root's (TemporaryFileSystem=, BindPaths=), which no seat can make.
func (s Seat) enter(root *safefile.Dir) (*safefile.Dir, error) {
	if inUnit(root) {
		return root.Mounted(s.Name)
	}
	return root.Sub(s.Name)
}

// openRoot opens the store for lookups: a seat may traverse it, not list it.
func (s Seat) openRoot() (*safefile.Dir, error) {
	parent, err := s.openAbove()
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	root, err := parent.Step(filepath.Base(s.Root))
	if err != nil {
		return nil, s.hinted(denied(s.Root, err))
	}
	if err := s.checkRoot(root); err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// openAbove opens the directory that the store lies in.
func (s Seat) openAbove() (*safefile.Dir, error) { return s.openAboveOf(s.Root) }

// openAboveOf opens the directory that path lies in, holding every ancestor.
func (s Seat) openAboveOf(path string) (*safefile.Dir, error) {
	at, err := safefile.Root()
	if err != nil {
		return nil, denied("/", err)
	}
	for _, name := range above(path) {
		next, err := at.Step(name)
		at.Close()
		if err != nil {
			return nil, s.hinted(denied(filepath.Join(at.Path(), name), err))
		}
		if err := s.checkAbove(next); err != nil {
			next.Close()
			return nil, err
		}
		at = next
	}
	return at, nil
}

// above lists the names between "/" and the last one of path.
func above(path string) []string {
	names := strings.Split(path, "/")
	return names[1 : len(names)-1]
}

// checkAbove holds an ancestor of the store: whoever may write there may put another store in its place.
func (s Seat) checkAbove(d *safefile.Dir) error {
	st, err := d.Stat()
	if err != nil {
		return denied(d.Path(), err)
	}
	if st.Uid != 0 && !(s.Embedded && int(st.Uid) == s.UID) {
		return refuse(d.Path(), "owner", owner(int(st.Uid)), owner(0))
	}
	if st.Mode&0o022 == 0 {
		return nil
	}
	if s.Embedded && st.Uid == 0 && st.Mode&unix.S_ISVTX != 0 {
		return nil // /tmp: only the owner of a name there can rename or remove it
	}
	return refuse(d.Path(), "mode", octal(st.Mode&0o7777), "no writing for group and others")
}

// checkRoot holds the store itself.
func (s Seat) checkRoot(root *safefile.Dir) error {
	switch {
	case s.Embedded: // 0700 is tighter, and what mktemp -d gives
		return rule{uid: s.UID, gid: s.GID, modes: []uint32{0o711, 0o700}}.check(root)
	case inUnit(root):
		return s.checkAbove(root)
	}
	return boxRoot.check(root)
}

// boxRoot is the rule for the store of a box.
var boxRoot = rule{uid: 0, gid: 0, modes: []uint32{0o711}}

// inUnit tells whether root is the stand-in that a unit sees.
func inUnit(root *safefile.Dir) bool {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(root.File().Fd()), &st); err != nil {
		return false
	}
	return st.Type == unix.TMPFS_MAGIC && st.Flags&unix.ST_RDONLY != 0
}

// hinted adds what to do about a store or seat that is not there.
func (s Seat) hinted(err error) error {
	var f *fault.Error
	if errors.As(err, &f) && errors.Is(err, fs.ErrNotExist) && !s.Embedded {
		return f.Try("sudo 5dive browser setup --seat=%s", s.Name)
	}
	return err
}

// place opens a directory of ours below the seat's, making what is missing, each 0700 and held to that.
func (s Seat) place(names ...string) (*safefile.Dir, error) {
	at, err := s.open()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		next, err := s.openOrMake(at, name)
		at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// openOrMake makes the directory name in parent, or opens the one that is there; either way it must be the seat's own.
func (s Seat) openOrMake(parent *safefile.Dir, name string) (*safefile.Dir, error) {
	path := filepath.Join(parent.Path(), name)
	dir, err := parent.Sub(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err := s.mine(); err != nil {
			return nil, err
		}
		dir, err = s.make(parent, name, 0o700)
	}
	if err != nil {
		return nil, denied(path, err)
	}
	if err := closed(s.UID, s.GID).check(dir); err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// make makes a directory as the seat, with the seat's group even below a setgid parent. One that another process of the
// seat made first is as good.
func (s Seat) make(parent *safefile.Dir, name string, mode uint32) (*safefile.Dir, error) {
	dir, err := parent.Make(name, mode)
	if errors.Is(err, fs.ErrExist) {
		return parent.Sub(name)
	}
	if err != nil {
		return nil, err
	}
	fd := int(dir.File().Fd())
	if err := errors.Join(unix.Fchown(fd, -1, s.GID), unix.Fchmod(fd, mode)); err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}
