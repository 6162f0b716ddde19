// Package safefile reads and writes small files and directories that somebody else may try to swap under us. Everything
// goes through an opened directory and one name in it: no path is resolved twice, no symbolic link is followed, no FIFO
// is waited for, and a file with a second hard link is refused.
//
// It trusts nobody but the kernel, judges no owner and no mode (package seat does), and repairs nothing. Its errors are
// those of the system calls, with the path; errors.Is works with fs.ErrNotExist, fs.ErrExist, unix.ELOOP and so on.
// It needs openat2 (Linux 5.6).
package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// strict is how every name is resolved: below the directory it is looked up in, through no link of either kind.
const strict = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS

const dirFlags = unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// Dir is an opened directory. Whatever is done to its path later, a Dir stays on the directory that was opened.
// The opener closes it. It is safe for concurrent use.
type Dir struct {
	file *os.File
	path string // as it was opened: for messages only
}

// Root opens "/", for lookups only.
func Root() (*Dir, error) { return openAt(unix.AT_FDCWD, "/", "/", unix.O_PATH, 0) }

// Open opens the directory at an absolute path, refusing a symbolic link anywhere in it.
func Open(path string) (*Dir, error) {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return nil, fmt.Errorf("cannot open directory %q: not a clean absolute path", path)
	}
	return openAt(unix.AT_FDCWD, path, path, unix.O_RDONLY, unix.RESOLVE_NO_SYMLINKS|unix.RESOLVE_NO_MAGICLINKS)
}

// Path is the path by which d was opened, for messages. It may lead elsewhere by now.
func (d *Dir) Path() string { return d.path }

// File is the opened directory itself. It belongs to d.
func (d *Dir) File() *os.File { return d.file }

// Close closes d. Closing twice is harmless.
func (d *Dir) Close() { d.file.Close() }

// Sub opens the directory name in d. A mount point is refused with EXDEV.
func (d *Dir) Sub(name string) (*Dir, error) {
	return d.open(name, unix.O_RDONLY, strict|unix.RESOLVE_NO_XDEV)
}

// Mounted opens the directory name in d, which may be a mount point.
func (d *Dir) Mounted(name string) (*Dir, error) { return d.open(name, unix.O_RDONLY, strict) }

// Step opens the directory name in d, which may be a mount point, for lookups only: it needs no read permission.
func (d *Dir) Step(name string) (*Dir, error) { return d.open(name, unix.O_PATH, strict) }

// Make makes the directory name in d with the given mode, whatever the umask and a setgid parent say, and opens it.
// An existing entry of that name is fs.ErrExist and is left alone.
func (d *Dir) Make(name string, mode uint32) (*Dir, error) {
	if err := single(name); err != nil {
		return nil, err
	}
	path := filepath.Join(d.path, name)
	if err := unix.Mkdirat(d.fd(), name, mode); err != nil {
		return nil, fmt.Errorf("cannot make directory %s: %w", path, err)
	}
	made, err := d.Sub(name)
	if err != nil {
		return nil, err
	}
	if err := made.settle(mode); err != nil {
		made.Close()
		return nil, err
	}
	return made, nil
}

// settle gives a directory that was made a moment ago its mode. An owner other than us says that it was swapped.
func (d *Dir) settle(mode uint32) error {
	st, err := d.Stat()
	if err != nil {
		return err
	}
	if int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("cannot make directory %s: it was swapped for one of uid %d", d.path, st.Uid)
	}
	if err := unix.Fchmod(d.fd(), mode); err != nil {
		return fmt.Errorf("cannot set the mode of %s: %w", d.path, err)
	}
	return nil
}

// Stat is fstat of d.
func (d *Dir) Stat() (unix.Stat_t, error) {
	var st unix.Stat_t
	if err := unix.Fstat(d.fd(), &st); err != nil {
		return st, fmt.Errorf("cannot stat %s: %w", d.path, err)
	}
	return st, nil
}

// Look is fstatat of name in d; it follows no link.
func (d *Dir) Look(name string) (unix.Stat_t, error) {
	var st unix.Stat_t
	if err := single(name); err != nil {
		return st, err
	}
	if err := unix.Fstatat(d.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return st, fmt.Errorf("cannot stat %s: %w", filepath.Join(d.path, name), err)
	}
	return st, nil
}

// Names lists d, in no order.
func (d *Dir) Names() ([]string, error) {
	again, err := openAt(d.fd(), ".", d.path, unix.O_RDONLY, strict) // a position of its own
	if err != nil {
		return nil, err
	}
	defer again.Close()
	names, err := again.file.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("cannot list %s: %w", d.path, err)
	}
	return names, nil
}

func (d *Dir) fd() int { return int(d.file.Fd()) }

func (d *Dir) open(name string, flags int, resolve uint64) (*Dir, error) {
	if err := single(name); err != nil {
		return nil, err
	}
	dir, err := openAt(d.fd(), name, filepath.Join(d.path, name), flags, resolve)
	if errors.Is(err, unix.ENOTDIR) && d.isLink(name) {
		return nil, fmt.Errorf("cannot open directory %s: %w", filepath.Join(d.path, name), unix.ELOOP)
	}
	return dir, err
}

// isLink tells a link from other things that are no directory: asked for a directory, the kernel says ENOTDIR of both.
func (d *Dir) isLink(name string) bool {
	st, err := d.Look(name)
	return err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK
}

func openAt(at int, name, path string, flags int, resolve uint64) (*Dir, error) {
	fd, err := openat2(at, name, flags|dirFlags, 0, resolve)
	if err != nil {
		return nil, fmt.Errorf("cannot open directory %s: %w", path, err)
	}
	return &Dir{file: os.NewFile(uintptr(fd), path), path: path}, nil
}

// openat2 goes on after a signal, as package os does.
func openat2(at int, name string, flags int, mode uint32, resolve uint64) (int, error) {
	how := unix.OpenHow{Flags: uint64(flags), Mode: uint64(mode), Resolve: resolve}
	for {
		fd, err := unix.Openat2(at, name, &how)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// single refuses what is not one name in a directory.
func single(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return fmt.Errorf("%q is not a name in a directory: %w", name, fs.ErrInvalid)
	}
	return nil
}
