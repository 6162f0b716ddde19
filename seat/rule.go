package seat

import (
	"errors"
	"fmt"
	"io/fs"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/safefile"
)

// rule is what a directory of the store must be, exactly.
type rule struct {
	uid, gid int
	modes    []uint32 // one of them, of mode & 07777: setgid (02700) hides from 0777
}

func closed(uid, gid int) rule { return rule{uid: uid, gid: gid, modes: []uint32{0o700}} }

// check holds an opened directory to r. Access and default ACLs are refused even where the mode shuts them out: one is a
// sign that somebody changed the store.
func (r rule) check(d *safefile.Dir) error {
	st, err := d.Stat()
	if err != nil {
		return fault.New(fault.Denied, "%w", err)
	}
	if int(st.Uid) != r.uid {
		return refuse(d.Path(), "owner", owner(int(st.Uid)), owner(r.uid))
	}
	if int(st.Gid) != r.gid {
		return refuse(d.Path(), "group", strconv.Itoa(int(st.Gid)), strconv.Itoa(r.gid))
	}
	if mode := st.Mode & 0o7777; !slices.Contains(r.modes, mode) {
		// Five digits: with four chmod leaves setuid and setgid of a directory as they are.
		return refuse(d.Path(), "mode", octal(mode), octal(r.modes[0])).Try("chmod %05o %s", r.modes[0], d.Path())
	}
	return noACL(d)
}

// refuse is the one shape of an audit's refusal.
func refuse(path, what, have, want string) *fault.Error {
	return fault.New(fault.Denied, "cannot trust %s: %s is %s, want %s", path, what, have, want)
}

func octal(mode uint32) string { return fmt.Sprintf("%04o", mode) }

func owner(uid int) string {
	id := strconv.Itoa(uid)
	if entry, err := user.LookupId(id); err == nil {
		return entry.Username + " (" + id + ")"
	}
	return id
}

// noACL refuses a POSIX ACL of either kind on an opened directory.
func noACL(d *safefile.Dir) error {
	for _, name := range []string{"system.posix_acl_access", "system.posix_acl_default"} {
		have, err := hasXattr(d, name)
		if err != nil {
			return fault.New(fault.Denied, "cannot read the ACL of %s: %w", d.Path(), err)
		}
		if have {
			return refuse(d.Path(), "ACL", "present ("+strings.TrimPrefix(name, "system.posix_acl_")+")", "none").Try("setfacl -b %s", d.Path())
		}
	}
	return nil
}

// hasXattr asks the descriptor. A directory that was opened for lookups only (O_PATH) answers EBADF; /proc/self/fd
// leads to the very same inode.
func hasXattr(d *safefile.Dir, name string) (bool, error) {
	fd := int(d.File().Fd())
	_, err := unix.Fgetxattr(fd, name, nil)
	if errors.Is(err, unix.EBADF) {
		_, err = unix.Getxattr("/proc/self/fd/"+strconv.Itoa(fd), name, nil)
	}
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, unix.ENODATA), errors.Is(err, unix.ENOTSUP):
		return false, nil
	}
	return false, err
}

// denied turns an error of opening a store directory into a refusal that says what stands there instead.
func denied(path string, err error) error {
	switch {
	case errors.Is(err, unix.ELOOP):
		return refuse(path, "type", "a symbolic link", "a directory")
	case errors.Is(err, unix.ENOTDIR):
		return refuse(path, "type", "not a directory", "a directory")
	case errors.Is(err, unix.EXDEV):
		return refuse(path, "type", "a mount point", "a plain directory")
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.Denied, "cannot use %s: there is none (%w)", path, fs.ErrNotExist)
	}
	return fault.New(fault.Denied, "%w", err)
}
