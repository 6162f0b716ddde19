package seat

import (
	"encoding/json"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/fault"
)

// Event is one line of a seat's history, in .state/events.ndjson and in the journal. It never holds a secret, nor text
// that a page or a person typed.
type Event struct {
	Time   time.Time         `json:"time"` // zero: now
	Name   string            `json:"event"`
	Site   string            `json:"site,omitempty"`
	Fields map[string]string `json:"fields,omitempty"`
}

// The events there are. Note refuses any other name.
const (
	ViewerMinted      = "viewer_minted"
	ViewerBind        = "viewer_bind"
	ViewerRedeemed    = "viewer_redeemed"
	ViewerDenied      = "viewer_denied"
	ViewerWSConnected = "viewer_ws_connected"
	ViewerWSClosed    = "viewer_ws_closed"
	ViewerExpired     = "viewer_expired"
	ViewerRevoked     = "viewer_revoked"
	Served            = "served"
	Stopped           = "stopped"
	ChromeExit        = "chrome_exit"
	ChromeRestart     = "chrome_restart"
	ChromeGaveUp      = "chrome_gave_up"
	Adopted           = "adopted"
	LockCleared       = "lock_cleared"
	Removed           = "removed"
)

var vocabulary = []string{ViewerMinted, ViewerBind, ViewerRedeemed, ViewerDenied, ViewerWSConnected, ViewerWSClosed,
	ViewerExpired, ViewerRevoked, Served, Stopped, ChromeExit, ChromeRestart, ChromeGaveUp, Adopted, LockCleared, Removed}

// forbidden are names of fields that say their value is a secret.
var forbidden = []string{"nonce", "password", "token", "secret", "text", "hash", "cookie", "link"}

const (
	eventsName = "events.ndjson"
	maxEvent   = 4 << 10 // bytes of one line
)

var fieldForm = regexp.MustCompile(`^[a-z][a-z_]{0,31}$`)

// Note appends an event to the seat's list and tells it to the process's log (slog's default, the journal in a unit). It
// is the only writer of events. An event outside the vocabulary is our own mistake and fault.Failed.
func (s Seat) Note(e Event) error {
	if err := e.check(); err != nil {
		return err
	}
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	e.Time = e.Time.UTC()
	line, err := json.Marshal(e)
	if err != nil || len(line) > maxEvent {
		return fault.New(fault.Failed, "cannot note event %s: %d bytes, %v", e.Name, len(line), err)
	}
	slog.Info(e.Name, "seat", s.Name, "site", e.Site, "fields", e.Fields)
	return s.appendEvent(line)
}

func (e Event) check() error {
	if !slices.Contains(vocabulary, e.Name) {
		return fault.New(fault.Failed, "cannot note event %.40q: not in the vocabulary", e.Name)
	}
	for name := range e.Fields {
		if !fieldForm.MatchString(name) || slices.Contains(forbidden, name) {
			return fault.New(fault.Failed, "cannot note event %s: field %.40q may not be told", e.Name, name)
		}
	}
	if e.Site == "" {
		return nil
	}
	_, err := ParseSite(e.Site)
	return err
}

// appendEvent writes one whole line under a lock. A line that a full disk tore is closed first, so that it spoils no other.
func (s Seat) appendEvent(line []byte) error {
	if err := s.mine(); err != nil {
		return err
	}
	dir, err := s.place(stateName)
	if err != nil {
		return err
	}
	defer dir.Close()
	file, err := dir.OpenFile(eventsName, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fault.New(fault.Denied, "%w", err)
	}
	defer file.Close() // ends the lock
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != nil {
		return fault.New(fault.Failed, "cannot note an event: %w", err)
	}
	if torn(file) {
		line = append([]byte{'\n'}, line...)
	}
	if _, err := file.Write(append(line, '\n')); err != nil {
		return fault.New(fault.Failed, "cannot note an event: %w", err)
	}
	return nil
}

// torn tells whether the file ends in the middle of a line.
func torn(file *os.File) bool {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	var last [1]byte
	_, err = file.ReadAt(last[:], info.Size()-1)
	return err == nil && last[0] != '\n'
}
