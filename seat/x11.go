package seat

import (
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/safefile"
)

// socketsDir is where every X server of the box puts its socket. Whoever makes it first owns it, and the owner can
// take away the sockets of others: so root makes it, and one of another owner is refused.
const socketsDir = "/tmp/.X11-unix"

const socketsMode = 0o1777

// socketsDir sees to the directory of X's sockets. Its parent is /tmp, where anybody may have made the name first; the sticky bit
// keeps what is root's from then on.
func (b *builder) socketsDir() error {
	parent, err := (Seat{Embedded: true}).openAboveOf(b.sockets) // root's sticky /tmp is fine here
	if err != nil {
		return err
	}
	defer parent.Close()
	dir, err := b.openOrMake(parent, b.sockets, socketsMode, "root")
	if err != nil || dir == nil {
		return err
	}
	dir.Close()
	if dir, err = parent.Mounted(filepath.Base(b.sockets)); err != nil {
		return denied(b.sockets, err)
	}
	defer dir.Close()
	return b.open1777(dir)
}

// open1777 holds the directory to root and mode 1777. A mode that only root can have set is put right: X servers cannot
// start without it.
func (b *builder) open1777(dir *safefile.Dir) error {
	st, err := dir.Stat()
	if err != nil {
		return denied(dir.Path(), err)
	}
	if st.Uid != 0 {
		return refuse(dir.Path(), "owner", owner(int(st.Uid)), owner(0)).Try("rm -r %s", dir.Path())
	}
	if st.Mode&0o7777 == socketsMode {
		return noACL(dir)
	}
	b.say("%s writable for every X server (%s, it was %s)", dir.Path(), octal(socketsMode), octal(st.Mode&0o7777))
	if !b.act {
		return nil
	}
	if err := unix.Fchmod(int(dir.File().Fd()), socketsMode); err != nil {
		return fault.New(fault.Failed, "cannot set the mode of %s: %w", dir.Path(), err)
	}
	return noACL(dir)
}
