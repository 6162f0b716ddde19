package seat

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/safefile"
)

// gonePrefix marks a profile that is being removed: one rename, after which no verb finds it, and a removal that was
// interrupted is finished by the next.
const gonePrefix = ".gone-"

// CheckRemove tells whether there is a profile that Remove would delete; it makes nothing.
func (s Seat) CheckRemove(site Site) error {
	if err := site.validate(); err != nil {
		return err
	}
	parent, err := s.open()
	if err != nil {
		return err
	}
	defer parent.Close()
	return s.removable(parent, site)
}

// removable refuses what is not a directory of the seat's own. Its mode, group, ACL and contents may fail the audit: whatever it is,
// deleting it gives nobody anything, and the seat could do so by hand.
func (s Seat) removable(parent *safefile.Dir, site Site) error {
	st, err := parent.Look(site.ID())
	switch {
	case err != nil:
		return s.noProfile(site, err)
	case st.Mode&unix.S_IFMT == unix.S_IFLNK:
		return denied(s.Profile(site), unix.ELOOP)
	case st.Mode&unix.S_IFMT != unix.S_IFDIR:
		return denied(s.Profile(site), unix.ENOTDIR)
	case int(st.Uid) != s.UID:
		return refuse(s.Profile(site), "owner", owner(int(st.Uid)), owner(s.UID))
	}
	dir, err := parent.Sub(site.ID())
	if err == nil {
		dir.Close()
	}
	if errors.Is(err, unix.EXDEV) {
		return denied(s.Profile(site), err)
	}
	return nil
}

// Remove deletes a profile with its stamp, as the seat and under the profile's lock; a profile in use is fault.Busy. However the
// tree is swapped meanwhile, nothing outside the profile is touched: it is entered by descriptor and emptied by name, and no link
// is followed. A profile that is itself a link or not the seat's own is Denied and stays; one that fails the audit otherwise may go.
func (s Seat) Remove(site Site) error {
	held, err := s.Lock(site)
	if err != nil {
		return err
	}
	defer held.Close()
	parent, err := s.open()
	if err != nil {
		return err
	}
	defer parent.Close()
	if err := s.removable(parent, site); err != nil {
		return cmp.Or(sweep(parent), err) // what is left of an earlier removal is why it is asked for again
	}
	var b [8]byte
	rand.Read(b[:])
	gone := gonePrefix + hex.EncodeToString(b[:])
	fd := int(parent.File().Fd())
	if err := unix.Renameat2(fd, site.ID(), fd, gone, unix.RENAME_NOREPLACE); err != nil {
		return fault.New(fault.Failed, "cannot remove profile %s: %w", site, err)
	}
	if err := errors.Join(s.forget(site), parent.RemoveEntry(gone)); err != nil { // both: a stamp tells of a login that is gone
		return fault.New(fault.Failed, "cannot remove profile %s: %w", site, err)
	}
	sweep(parent) // what cannot be swept was told by the removal that left it
	return nil
}

// sweep finishes every removal that was begun, and gives the first that cannot be.
func sweep(dir *safefile.Dir) error {
	names, err := dir.Names()
	if err != nil {
		return err
	}
	var first error
	for _, name := range names {
		if strings.HasPrefix(name, gonePrefix) {
			if err := dir.RemoveEntry(name); err != nil && first == nil {
				first = fault.New(fault.Failed, "cannot finish an earlier removal: %w", err)
			}
		}
	}
	return first
}

// forget removes the stamp of a profile.
func (s Seat) forget(site Site) error {
	dir, err := s.place(stateName, stampsName)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.RemoveFile(site.ID())
}
