package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// MaxDepth is how deep Empty goes: Chrome's own directories are about 8 deep, and every level holds a descriptor.
const MaxDepth = 64

// ErrDeep is a tree deeper than MaxDepth.
var ErrDeep = errors.New("it is nested too deeply")

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
	left := again
	return d.removeEntry(name, 0, &left)
}

// Empty removes everything below d, however it is swapped meanwhile: each directory is entered by descriptor and each
// entry removed by its name in that directory, so what a link points at is never touched. A mount point stops it.
func (d *Dir) Empty() error {
	left := again
	return d.empty(0, &left)
}

// again is how often, in one removal, a directory is looked at once more because entries were made or swapped while it
// was emptied: by a process that still ends, or by one that means harm and must not keep us for ever.
const again = 1000

func (d *Dir) empty(depth int, left *int) error {
	if depth > MaxDepth {
		return fmt.Errorf("cannot empty %s: %w", d.path, ErrDeep)
	}
	last := fmt.Errorf("cannot empty %s: its entries keep changing", d.path)
	for look := 0; ; look++ {
		if look > 1 { // the first finds the entries, the second that they are gone
			*left--
		}
		if *left < 0 {
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
			err := d.removeEntry(name, depth, left)
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

// removeEntry takes an entry for a file first. EISDIR says it is a directory; if it is
// swapped between the two, the second step fails.
func (d *Dir) removeEntry(name string, depth int, left *int) error {
	err := d.unlink(name, 0)
	if !errors.Is(err, unix.EISDIR) {
		return err
	}
	sub, err := d.Sub(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer sub.Close()
	if err := sub.empty(depth+1, left); err != nil {
		return err
	}
	return d.unlink(name, unix.AT_REMOVEDIR)
}

func (d *Dir) unlink(name string, flags int) error {
	err := unix.Unlinkat(d.fd(), name, flags)
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("cannot remove %s: %w", filepath.Join(d.path, name), err)
	}
	return nil
}
