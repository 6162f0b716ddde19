package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

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
	return d.removeEntry(name, 0)
}

// Empty removes everything below d, however it is swapped meanwhile: each directory is entered by descriptor and each
// entry removed by its name in that directory, so what a link points at is never touched. A mount point stops it.
func (d *Dir) Empty() error { return d.empty(0) }

func (d *Dir) empty(depth int) error {
	if depth > MaxDepth {
		return fmt.Errorf("cannot empty %s: %w", d.path, ErrDeep)
	}
	// A name may be made while the others are removed, by a process that still ends: look again, but not for ever.
	for range 3 {
		names, err := d.Names()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // d itself is removed: another remover was faster
		}
		if err != nil || len(names) == 0 {
			return err
		}
		for _, name := range names {
			if err := d.removeEntry(name, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeEntry takes an entry for a file first. EISDIR (EPERM on some file systems) says it is a directory; if it is
// swapped between the two, the second step fails and the caller hears of it.
func (d *Dir) removeEntry(name string, depth int) error {
	err := d.unlink(name, 0)
	if !errors.Is(err, unix.EISDIR) && !errors.Is(err, unix.EPERM) {
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
	if err := sub.empty(depth + 1); err != nil {
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
