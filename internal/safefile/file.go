package safefile

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ErrLinked is a file that has a second name somewhere.
var ErrLinked = errors.New("it has another hard link")

// ErrNotRegular is a FIFO, socket or device where a file is expected.
var ErrNotRegular = errors.New("it is not a regular file")

// ErrLarge is a file longer than the caller reads.
var ErrLarge = errors.New("it is too large")

// OpenFile opens a regular file in d that has no second name. flags are those of os.OpenFile; a link is never followed and
// a FIFO never waited for. The caller closes it.
func (d *Dir) OpenFile(name string, flags int, mode uint32) (*os.File, error) {
	if err := single(name); err != nil {
		return nil, err
	}
	path := filepath.Join(d.path, name)
	fd, err := openat2(d.fd(), name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, createMode(flags, mode),
		strict|unix.RESOLVE_NO_XDEV)
	if err != nil {
		return nil, fmt.Errorf("cannot open %s: %w", path, err)
	}
	if err := regular(fd); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("cannot open %s: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// createMode is 0 without O_CREAT: openat2, unlike open, refuses a mode that would be ignored.
func createMode(flags int, mode uint32) uint32 {
	if flags&unix.O_CREAT == 0 {
		return 0
	}
	return mode
}

func regular(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return ErrNotRegular
	}
	if st.Nlink > 1 { // none is fine: the file was replaced since it was opened
		return ErrLinked
	}
	return nil
}

// Read reads the file name in d, at most limit bytes of it; a longer one is ErrLarge.
func (d *Dir) Read(name string, limit int64) ([]byte, error) {
	file, err := d.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = ErrLarge
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", filepath.Join(d.path, name), err)
	}
	return data, nil
}

// Replace puts data in place of the file name in d, in one step that a crash cannot tear: a temporary file in d, mode, fsync, rename,
// fsync of d. A link of that name is replaced, not followed.
func (d *Dir) Replace(name string, data []byte, mode uint32) error {
	if err := single(name); err != nil {
		return err
	}
	temp := tempName()
	err := d.fill(temp, data, mode)
	if err == nil {
		err = unix.Renameat(d.fd(), temp, d.fd(), name)
	}
	if err != nil {
		unix.Unlinkat(d.fd(), temp, 0)
		return fmt.Errorf("cannot replace %s: %w", filepath.Join(d.path, name), err)
	}
	if err := d.file.Sync(); err != nil {
		return fmt.Errorf("cannot replace %s: %w", filepath.Join(d.path, name), err)
	}
	return nil
}

// fill makes the file name, which must not exist, and writes it to the disk.
func (d *Dir) fill(name string, data []byte, mode uint32) error {
	file, err := d.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := unix.Fchmod(int(file.Fd()), mode); err != nil {
		return err
	}
	if _, err := file.Write(data); err != nil {
		return err
	}
	return file.Sync()
}

// tempName starts with a dot, so that no store takes it for a profile.
func tempName() string {
	var b [8]byte
	rand.Read(b[:])
	return ".tmp-" + hex.EncodeToString(b[:])
}

// Replace is Dir.Replace for an absolute path, whose directories may hold no symbolic link.
func Replace(path string, data []byte, mode uint32) error {
	dir, err := Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Replace(filepath.Base(path), data, mode)
}

// Read is Dir.Read for an absolute path, whose directories may hold no symbolic link.
func Read(path string, limit int64) ([]byte, error) {
	dir, err := Open(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Read(filepath.Base(path), limit)
}
