package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxOpen is how many levels of a tree Empty holds open at once, each by a descriptor: Chrome's own directories are about 8 deep.
const maxOpen = 64

// RemoveFile unlinks name in d: the name itself, never what a link points at. A missing one is no error.
func (d *Dir) RemoveFile(name string) error {
	if err := single(name); err != nil {
		return err
	}
	return d.unlink(name, 0)
}

// RemoveDir removes the empty directory name in d. A missing one is no error.
func (d *Dir) RemoveDir(name string) error {
	if err := single(name); err != nil {
		return err
	}
	return d.unlink(name, unix.AT_REMOVEDIR)
}

// RemoveEntry removes the entry name in d, whatever it is, with everything below it; see Empty. A missing one is no error.
func (d *Dir) RemoveEntry(name string) error {
	if err := single(name); err != nil {
		return err
	}
	return (&emptying{left: again}).entry(d, name, 0)
}

// Empty removes everything below d, however deep it is and however it is swapped meanwhile: each directory is entered by descriptor
// and each entry removed by its name in that directory, so what a link points at is never touched. A mount point stops it. A
// directory that its owner, who calls, has shut for himself is opened first.
func (d *Dir) Empty() error { return (&emptying{top: d, left: again}).dir(d, 0) }

// again is how often, in one removal, a directory is looked at once more because entries were made, swapped or lifted while it
// was emptied: by a process that still ends, or by one that means harm and must not keep us for ever.
const again = 1000

// emptying is one removal. top is the first directory that it entered, nil until then.
type emptying struct {
	top  *Dir
	left int // of again
}

func (e *emptying) dir(d *Dir, depth int) error {
	d.unshut()
	last := fmt.Errorf("cannot empty %s: its entries keep changing", d.path)
	for look := 0; ; look++ {
		if look > 1 { // the first finds the entries, the second that they are gone
			e.left--
		}
		if e.left < 0 {
			return last
		}
		names, err := d.Names()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // d itself is removed: another remover was faster
		}
		if err != nil || len(names) == 0 {
			return err
		}
		for _, name := range names {
			err := e.entry(d, name, depth)
			if err != nil && !swapped(err) {
				return err
			}
			if err != nil {
				last = err
			}
		}
	}
}

// swapped tells an error that says an entry was another thing a moment ago.
func swapped(err error) bool {
	for _, errno := range []syscall.Errno{unix.ENOTDIR, unix.ELOOP, unix.ENOTEMPTY, unix.EISDIR} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// entry takes an entry for a file first. EISDIR says it is a directory; if it is
// swapped between the two, the second step fails.
func (e *emptying) entry(d *Dir, name string, depth int) error {
	err := d.unlink(name, 0)
	if !errors.Is(err, unix.EISDIR) {
		return err
	}
	if depth == maxOpen {
		return e.lift(d, name)
	}
	sub, err := d.subUnshut(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer sub.Close()
	if e.top == nil {
		e.top = sub
	}
	if err := e.dir(sub, depth+1); err != nil {
		return err
	}
	return d.unlink(name, unix.AT_REMOVEDIR)
}

// lift moves a directory that lies too deep up into the top, which is looked at again: so no tree takes more than maxOpen descriptors. What is
// moved is a name in an opened directory, and both lie in the tree that is being removed.
func (e *emptying) lift(d *Dir, name string) error {
	for try := 0; ; try++ {
		err := unix.Renameat2(d.fd(), name, e.top.fd(), tempName(), unix.RENAME_NOREPLACE)
		if errors.Is(err, unix.EACCES) && try == 0 { // its entry ".." changes, so it must be writable
			if sub, err := d.subUnshut(name); err == nil {
				sub.unshut()
				sub.Close()
				continue
			}
		}
		if err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("cannot remove %s: %w", filepath.Join(d.path, name), err)
		}
		return nil
	}
}

// unshut gives the owner of d the rights that emptying it takes. Of somebody else's directory the kernel refuses it, and then the next step.
func (d *Dir) unshut() {
	if st, err := d.Stat(); err == nil && st.Mode&0o700 != 0o700 {
		unix.Fchmod(d.fd(), st.Mode&0o7777|0o700)
	}
}

// subUnshut is Sub, also for a directory that its owner may not read. A descriptor that was opened for lookups has no fchmod; /proc/self/fd
// leads to the very same inode.
func (d *Dir) subUnshut(name string) (*Dir, error) {
	sub, refused := d.Sub(name)
	if !errors.Is(refused, unix.EACCES) {
		return sub, refused
	}
	shut, err := d.open(name, unix.O_PATH, strict|unix.RESOLVE_NO_XDEV)
	if err != nil {
		return nil, err
	}
	defer shut.Close()
	if err := unix.Chmod("/proc/self/fd/"+strconv.Itoa(shut.fd()), 0o700); err != nil {
		return nil, refused
	}
	return d.Sub(name)
}

func (d *Dir) unlink(name string, flags int) error {
	err := unix.Unlinkat(d.fd(), name, flags)
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("cannot remove %s: %w", filepath.Join(d.path, name), err)
	}
	return nil
}
