package seat

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/5dive/browser/internal/fault"
)

// mine refuses to change anything in the store for another than the seat. Root would do it with rights that the seat
// could turn against others.
func (s Seat) mine() error {
	if uid := os.Geteuid(); uid != s.UID {
		return fault.New(fault.Denied, "cannot change the store of seat %s: this is uid %d, want %d", s.Name, uid, s.UID)
	}
	return nil
}

// Ensure makes what the seat needs before its first profile. In the embedded default that is the store (0711), the
// seat's directory (0700) and its own directories; on a box the first two are root's to make (Setup), and their lack is
// Denied. What exists is held to its rule and left alone.
func (s Seat) Ensure() error {
	if err := s.mine(); err != nil {
		return err
	}
	if s.Embedded {
		if err := s.embed(); err != nil {
			return err
		}
	}
	for _, name := range own {
		dir, err := s.place(name)
		if err != nil {
			return err
		}
		dir.Close()
	}
	return nil
}

// embed makes the store and the seat's directory as the invoking user. The parent of the store must be there.
func (s Seat) embed() error {
	parent, err := s.openAbove()
	if err != nil {
		return err
	}
	defer parent.Close()
	name := filepath.Base(s.Root)
	if _, err := parent.Look(name); errors.Is(err, fs.ErrNotExist) {
		made, err := s.make(parent, name, 0o711)
		if err != nil {
			return denied(s.Root, err)
		}
		made.Close()
	}
	root, err := s.openRoot()
	if err != nil {
		return err
	}
	defer root.Close()
	dir, err := s.openOrMake(root, s.Name)
	if err != nil {
		return err
	}
	dir.Close()
	return nil
}

// Make makes a profile and its chrome directory, 0700, as the seat. One that is there is audited and left alone.
func (s Seat) Make(site Site) error {
	if err := errors.Join(site.validate(), s.mine()); err != nil {
		return err
	}
	dir, err := s.place(site.ID(), chromeName)
	if err != nil {
		return err
	}
	dir.Close()
	return s.AuditProfile(site)
}

// Unmake takes away a profile in which no Chrome has written yet; any other stays.
func (s Seat) Unmake(site Site) error {
	p, err := s.openProfile(site)
	if err != nil {
		return err
	}
	defer p.close()
	if err := errors.Join(s.mine(), p.dir.RemoveDir(chromeName)); err != nil {
		return err
	}
	return errors.Join(p.dir.RemoveFile(recordName), p.parent.RemoveDir(site.ID()))
}

// Sites lists the profiles by name, sorted by id: every entry that is named like a site, whatever it is. Audit the one
// that is used; a bad one is refused there by name and hides no other.
func (s Seat) Sites() ([]Site, error) {
	dir, err := s.open()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Names()
	if err != nil {
		return nil, fault.New(fault.Failed, "%w", err)
	}
	var sites []Site
	for _, name := range names {
		if site, err := ParseSite(name); err == nil {
			sites = append(sites, site)
		}
	}
	slices.SortFunc(sites, func(a, b Site) int { return strings.Compare(a.ID(), b.ID()) })
	return sites, nil
}

// openProfile opens a profile's directory, held to its rule.
func (s Seat) openProfile(site Site) (*profile, error) {
	if err := site.validate(); err != nil {
		return nil, err
	}
	parent, err := s.open()
	if err != nil {
		return nil, err
	}
	p := &profile{seat: s, site: site, parent: parent}
	if p.dir, err = parent.Sub(site.ID()); err != nil {
		parent.Close()
		return nil, s.noProfile(site, err)
	}
	if err := closed(s.UID, s.GID).check(p.dir); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (s Seat) noProfile(site Site, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &fault.Error{Kind: fault.Usage, What: fmt.Sprintf("cannot use profile %s: there is none", site),
			Hint: "5dive browser ls", Err: fs.ErrNotExist}
	}
	return denied(s.Profile(site), err)
}
