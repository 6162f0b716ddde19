package seat

import (
	"errors"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/safefile"
)

// profile is an opened profile and the seat's directory that it lies in.
type profile struct {
	seat        Seat
	site        Site
	parent, dir *safefile.Dir
}

func (p *profile) close() {
	p.dir.Close()
	p.parent.Close()
}

// Audit holds the store, the seat's directory and its own directories to their rules. It makes and repairs nothing;
// the first fault is Denied.
func (s Seat) Audit() error {
	dir, err := s.open()
	if err != nil {
		return err
	}
	defer dir.Close()
	for _, name := range own {
		if err := s.auditOwn(dir, name); err != nil {
			return err
		}
	}
	return s.auditSettings(dir)
}

// auditOwn holds one of the seat's own directories, if it is there.
func (s Seat) auditOwn(parent *safefile.Dir, name string) error {
	dir, err := parent.Sub(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return denied(filepath.Join(parent.Path(), name), err)
	}
	defer dir.Close()
	return closed(s.UID, s.GID).check(dir)
}

// auditSettings looks at settings.json without reading it.
func (s Seat) auditSettings(dir *safefile.Dir) error {
	file, err := s.openSettings(dir)
	if file != nil {
		file.Close()
	}
	return err
}

// AuditProfile is Audit and then the whole of one profile: its directory and chrome/ exactly 0700 of the seat, and
// below them nothing but directories and files of the seat with one hard link each, on one file system. The only links allowed are
// Chrome's own Singleton locks. A file that vanishes under a running Chrome is no fault. A profile that is not there
// is fault.Usage and fs.ErrNotExist.
func (s Seat) AuditProfile(site Site) error {
	if err := s.Audit(); err != nil {
		return err
	}
	p, err := s.openProfile(site)
	if err != nil {
		return err
	}
	defer p.close()
	if err := s.auditOwn(p.dir, chromeName); err != nil {
		return err
	}
	return s.walk(p.dir, 0)
}

// Look holds the store and a profile's own directory to their rules, and nothing below that: for a list, which must not walk every file.
// A profile that is not there is fault.Usage and fs.ErrNotExist.
func (s Seat) Look(site Site) error {
	p, err := s.openProfile(site)
	if err == nil {
		p.close()
	}
	return err
}

// maxDepth bounds an audit, in which every level holds a descriptor: Chrome's own directories are about 8 deep.
const maxDepth = 64

func (s Seat) walk(dir *safefile.Dir, depth int) error {
	if depth > maxDepth {
		return fault.New(fault.Denied, "cannot trust %s: it is nested too deeply", dir.Path())
	}
	names, err := dir.Names()
	if err != nil {
		return fault.New(fault.Denied, "%w", err)
	}
	for _, name := range names {
		if err := s.auditEntry(dir, name, depth); err != nil {
			return err
		}
	}
	return nil
}

func (s Seat) auditEntry(dir *safefile.Dir, name string, depth int) error {
	path := filepath.Join(dir.Path(), name)
	st, err := dir.Look(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fault.New(fault.Denied, "%w", err)
	}
	if int(st.Uid) != s.UID {
		return refuse(path, "owner", owner(int(st.Uid)), owner(s.UID))
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return s.descend(dir, name, depth)
	case unix.S_IFREG:
		if st.Nlink > 1 {
			return fault.New(fault.Denied, "cannot trust %s: it has %d hard links, want 1", path, st.Nlink)
		}
		return nil
	case unix.S_IFLNK:
		if depth == 1 && filepath.Base(dir.Path()) == chromeName && singleton(name) {
			return nil
		}
		return refuse(path, "type", "a symbolic link", "a file or directory")
	}
	return refuse(path, "type", "a FIFO, socket or device", "a file or directory")
}

func (s Seat) descend(dir *safefile.Dir, name string, depth int) error {
	sub, err := dir.Sub(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return denied(filepath.Join(dir.Path(), name), err)
	}
	defer sub.Close()
	return s.walk(sub, depth+1)
}

// singleton tells whether name is one of the links by which Chrome says who runs on a profile (process_singleton_posix.cc).
func singleton(name string) bool {
	return name == "SingletonLock" || name == "SingletonCookie" || name == "SingletonSocket"
}
