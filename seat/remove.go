package seat

import (
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

// Remove deletes a profile with its stamp, as the seat and under the profile's lock; a profile in use is fault.Busy. However the
// tree is swapped meanwhile, nothing outside the profile is touched: it is entered by descriptor and emptied by name, and no link
// is followed. A profile that is itself a link or not the seat's own is Denied and stays.
func (s Seat) Remove(site Site) error {
	held, err := s.Lock(site)
	if err != nil {
		return err
	}
	defer held.Close()
	p, err := s.openProfile(site)
	if err != nil {
		return err
	}
	defer p.close()
	var b [8]byte
	rand.Read(b[:])
	gone := gonePrefix + hex.EncodeToString(b[:])
	fd := int(p.parent.File().Fd())
	if err := unix.Renameat2(fd, site.ID(), fd, gone, unix.RENAME_NOREPLACE); err != nil {
		return fault.New(fault.Failed, "cannot remove profile %s: %w", site, err)
	}
	if err := p.dir.Empty(); err != nil {
		return fault.New(fault.Failed, "cannot remove profile %s: %w", site, err)
	}
	if err := errors.Join(sweep(p.parent), s.forget(site)); err != nil {
		return fault.New(fault.Failed, "cannot remove profile %s: %w", site, err)
	}
	return nil
}

// sweep finishes every removal that was begun.
func sweep(dir *safefile.Dir) error {
	names, err := dir.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, gonePrefix) {
			if err := dir.RemoveEntry(name); err != nil {
				return err
			}
		}
	}
	return nil
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
