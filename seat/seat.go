package seat

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/5dive/browser/internal/fault"
)

// DefaultRoot is the store of a box.
const DefaultRoot = "/var/lib/5dive/browser-profiles"

// Uids of ordinary users: Debian gives them from 1000 (login.defs); 65534 is nobody, and every foreign uid inside a
// user namespace.
const (
	firstUID = 1000
	nobody   = 65534
)

// Seat is one user's part of a store. It holds names only; every method opens and checks anew. The zero Seat is not
// usable. It is safe for concurrent use.
type Seat struct {
	Root     string // the store, a clean absolute path
	Name     string // the user
	UID, GID int
	Embedded bool // the store belongs to the invoking user, not to root
}

// Current is the invoking user's seat in the store at root; "" is DefaultRoot. A root that was named and is not root's is
// taken for the user's own (Embedded), and the audit says so if it is neither.
func Current(root string) (Seat, error) {
	uid := os.Geteuid()
	if uid != os.Getuid() {
		return Seat{}, fault.New(fault.Denied, "cannot tell the seat: real uid %d and effective uid %d differ", os.Getuid(), uid)
	}
	if uid == 0 {
		return Seat{}, fault.New(fault.Denied, "cannot use the seat of root: a browser runs as an ordinary user only").
			Try("the same as that user, or with --seat=USER")
	}
	entry, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return Seat{}, fault.New(fault.Denied, "cannot tell the seat of uid %d: it has no user name", uid)
	}
	return Named(root, entry.Username)
}

// Named is the seat of the user name, for root and the relay.
func Named(root, name string) (Seat, error) {
	path, err := rootPath(root)
	if err != nil {
		return Seat{}, err
	}
	s := Seat{Root: path, Name: name}
	if s.UID, s.GID, err = account(name); err != nil {
		return Seat{}, err
	}
	s.Embedded = root != "" && !rootsOwn(path)
	return s, nil
}

// account looks up an ordinary user.
func account(name string) (uid, gid int, err error) {
	if !ValidName(name) {
		return 0, 0, fault.New(fault.Usage, "cannot use seat name %.40q: not a user name (a letter or underscore, then letters, digits, hyphens, underscores)", name)
	}
	entry, err := user.Lookup(name)
	if err != nil {
		return 0, 0, fault.New(fault.Denied, "cannot use seat %s: there is no such user", name)
	}
	uid, err = strconv.Atoi(entry.Uid)
	if err != nil || uid < firstUID || uid == nobody {
		return 0, 0, fault.New(fault.Denied, "cannot use seat %s: uid %s is not an ordinary user's, want %d or more", name, entry.Uid, firstUID)
	}
	gid, err = strconv.Atoi(entry.Gid)
	if err != nil || entry.Username != name {
		return 0, 0, fault.New(fault.Denied, "cannot use seat %s: the user data base answers with %q", name, entry.Username)
	}
	return uid, gid, nil
}

// ValidName tells whether name fits Debian's rule for user names (adduser's NAME_REGEX, useradd's 32 characters).
func ValidName(name string) bool {
	if name == "" || len(name) > 32 || (name[0] != '_' && (name[0] < 'a' || name[0] > 'z')) {
		return false
	}
	return only(name, "-_")
}

// rootPath is the store's path, as the caller wrote it or the default.
func rootPath(root string) (string, error) {
	if root == "" {
		return DefaultRoot, nil
	}
	if !filepath.IsAbs(root) || filepath.Clean(root) != root || root == "/" {
		return "", fault.New(fault.Config, "cannot use store %.200q: want a clean absolute path below /", root)
	}
	return root, nil
}

// rootsOwn chooses which rules a named store is held to. It decides nothing that the audit does not look at again on
// the opened directory: a store that changes hands in between fails there.
func rootsOwn(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Sys().(*syscall.Stat_t).Uid == 0
}

// Dir is <root>/<seat>.
func (s Seat) Dir() string { return filepath.Join(s.Root, s.Name) }

// Profile is the directory of one profile.
func (s Seat) Profile(site Site) string { return filepath.Join(s.Dir(), site.ID()) }

// Chrome is the user data directory of one profile.
func (s Seat) Chrome(site Site) string { return filepath.Join(s.Profile(site), chromeName) }

// State holds stamps, events and the port.
func (s Seat) State() string { return filepath.Join(s.Dir(), stateName) }

// Run holds sockets, locks and scratch where there is no unit to give a directory in /run.
func (s Seat) Run() string { return filepath.Join(s.Dir(), runName) }

// Adapters holds the seat's own adapters.
func (s Seat) Adapters() string { return filepath.Join(s.Dir(), adaptersName) }

// Artifacts holds what shot and read wrote without a destination.
func (s Seat) Artifacts() string { return filepath.Join(s.Dir(), artifactsName) }

// Names in a seat's directory. None can be a site's: a host begins with a letter or digit.
const (
	chromeName    = "chrome"
	stateName     = ".state"
	runName       = ".run"
	adaptersName  = ".adapters"
	artifactsName = ".artifacts"
	throwawayName = ".throwaway"
)

// own lists the directories that Ensure makes in a seat's directory.
var own = [...]string{stateName, runName, adaptersName, artifactsName, throwawayName}
