package seat

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/safefile"
	"github.com/5dive/browser/internal/strict"
)

// Names and limits of the small files. A stamp's or lock's file has the profile's id for a name, which is why each kind has
// a directory of its own: a suffix would not fit beside an id of 255 characters.
const (
	stampsName = "stamps"
	recordName = "profile.json"
	maxRecord  = 64 << 10 // bytes
)

// Stamp is what is known of a login. The zero Stamp says: never looked at. Times are UTC.
type Stamp struct {
	FirstSeen         time.Time `json:"first_seen"`         // the first authenticated verdict
	LastAuthenticated time.Time `json:"last_authenticated"` // the latest one
	Checked           time.Time `json:"checked"`            // the latest verdict of any kind
	Verdict           string    `json:"verdict"`            // in the words of status
	Reason            string    `json:"reason,omitempty"`   // of an UNKNOWN
}

// Stamp reads the stamp of a profile; the zero Stamp if there is none.
func (s Seat) Stamp(site Site) (Stamp, error) {
	var stamp Stamp
	if err := site.validate(); err != nil {
		return stamp, err
	}
	return stamp, s.readRecord(&stamp, site.ID(), stateName, stampsName)
}

// SetStamp replaces the stamp of a profile.
func (s Seat) SetStamp(site Site, stamp Stamp) error {
	return s.setRecord(site, stamp, site.ID(), stateName, stampsName)
}

// Profile is profile.json: what the product keeps about one profile. Nothing in it is a secret.
type Profile struct {
	Chrome  string `json:"chrome,omitempty"`  // path of the binary that ran last
	Name    string `json:"name,omitempty"`    // its name: Chromium, Google Chrome, Microsoft Edge
	Version string `json:"version,omitempty"` // its full version
	Major   int    `json:"major,omitempty"`   // an older one is refused
	Label   string `json:"label,omitempty"`   // what a person calls the profile
	Colour  string `json:"colour,omitempty"`  // #rrggbb
	Avatar  string `json:"avatar,omitempty"`
	Owner   int    `json:"owner"`  // uid of the profile's owner
	Driver  int    `json:"driver"` // uid that may drive it; the owner, until the two are split
}

// Record reads profile.json; without one, a Profile whose owner and driver are the seat.
func (s Seat) Record(site Site) (Profile, error) {
	record := Profile{Owner: s.UID, Driver: s.UID}
	if err := site.validate(); err != nil {
		return record, err
	}
	return record, s.readRecord(&record, recordName, site.ID())
}

// SetRecord replaces profile.json of an existing profile.
func (s Seat) SetRecord(site Site, record Profile) error {
	p, err := s.openProfile(site)
	if err != nil {
		return err
	}
	p.close()
	return s.setRecord(site, record, recordName, site.ID())
}

// readRecord reads the file name in the directory dirs below the seat's; a missing file or directory leaves into alone.
func (s Seat) readRecord(into any, name string, dirs ...string) error {
	dir, err := s.find(dirs...)
	if errors.Is(err, fs.ErrNotExist) && dir == nil {
		return s.seatThere()
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	data, err := dir.Read(name, maxRecord)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fault.New(fault.Denied, "%w", err)
	}
	return strict.DecodeOpen(filepath.Join(dir.Path(), name), data, into)
}

// seatThere tells a seat without records, which is no fault, from a seat that is not there.
func (s Seat) seatThere() error {
	dir, err := s.open()
	if err == nil {
		dir.Close()
	}
	return err
}

// find is place without making anything.
func (s Seat) find(names ...string) (*safefile.Dir, error) {
	at, err := s.open()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		next, err := at.Sub(name)
		at.Close()
		if err != nil {
			return nil, denied(filepath.Join(at.Path(), name), err)
		}
		if err := closed(s.UID, s.GID).check(next); err != nil {
			next.Close()
			return nil, err
		}
		at = next
	}
	return at, nil
}

func (s Seat) setRecord(site Site, value any, name string, dirs ...string) error {
	if err := errors.Join(site.validate(), s.mine()); err != nil {
		return err
	}
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fault.New(fault.Failed, "cannot write %s of %s: %w", name, site, err)
	}
	return s.replace(append(data, '\n'), name, dirs...)
}

// replace writes one of our files below the seat's directory.
func (s Seat) replace(data []byte, name string, dirs ...string) error {
	dir, err := s.place(dirs...)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Replace(name, data, 0o600); err != nil {
		return fault.New(fault.Failed, "%w", err)
	}
	return nil
}
