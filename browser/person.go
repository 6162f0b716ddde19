package browser

import (
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/fault"
)

// Person is a Chrome with a window in which a person works. Paths are absolute. It is a plain value.
type Person struct {
	Binary    Binary
	UserData  string // the profile's directory of Chrome, 0700; it exists
	Scratch   string // 0700, the caller's, removed after the end: HOME and TMPDIR of Chrome, its crash dumps and its socket
	URL       string // http or https; "" is an empty page
	Display   string // X display, "unix:N"
	Authority string // file with its cookie
	TimeZone  string // as in /usr/share/zoneinfo; "" is the machine's
	Locale    string // "de_DE" or "de-DE"; "" is en_US
}

// ScratchLimit keeps the path of Chrome's own socket, Scratch/org.chromium.Chromium.XXXXXX/SingletonSocket, in the 107 bytes that a Unix
// socket may have: Chrome aborts at a longer one.
const ScratchLimit = 60

var (
	zoneName   = regexp.MustCompile(`^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,2}$`)
	localeName = regexp.MustCompile(`^([A-Za-z]{2,3})(?:[_-]([A-Za-z]{2}|[0-9]{3}))?(?:\.UTF-8)?$`)
)

// Command is the command that starts Chrome, not started: no input, no output, a process group of its own, an environment built from nothing.
// Prepare comes first. Since core files are inherited, it also ends those of the calling process, which holds what its Chrome holds.
func (p Person) Command() (*exec.Cmd, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	page, err := p.page()
	if err != nil {
		return nil, err
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return nil, fault.New(fault.Failed, "cannot switch core files off: %w", err)
	}
	cmd := exec.Command(p.Binary.Path, append(p.flags(), page)...)
	cmd.Dir = p.Scratch
	cmd.Env = p.environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, nil
}

func (p Person) check() error {
	wrong := func(thing, value string) error {
		return fault.New(fault.Config, "cannot start %s: %s is %q", p.Binary.Name, thing, value)
	}
	switch {
	case !filepath.IsAbs(p.Binary.Path):
		return wrong("its path", p.Binary.Path)
	case !filepath.IsAbs(p.UserData) || filepath.Clean(p.UserData) != p.UserData:
		return wrong("the profile", p.UserData)
	case !filepath.IsAbs(p.Scratch) || filepath.Clean(p.Scratch) != p.Scratch || len(p.Scratch) > ScratchLimit:
		return fault.New(fault.Config, "cannot start %s: scratch directory %q is no clean absolute path of at most %d bytes", p.Binary.Name, p.Scratch, ScratchLimit)
	case p.TimeZone != "" && !zoneName.MatchString(p.TimeZone):
		return wrong("the time zone", p.TimeZone)
	case p.Locale != "" && !localeName.MatchString(p.Locale):
		return wrong("the locale", p.Locale)
	}
	_, err := p.address()
	return err
}

// address is the parsed URL, nil for none.
func (p Person) address() (*url.URL, error) {
	if p.URL == "" {
		return nil, nil
	}
	u, err := url.Parse(p.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		// The text of the address may hold a token: it is not repeated.
		return nil, fault.New(fault.Usage, "cannot open the address: it is no http or https address of a host")
	}
	return u, nil
}

// bare tells whether u is an origin and nothing more, so that it may stand in argv, which every user of the machine can read.
func bare(u *url.URL) bool {
	return strings.Trim(u.Path, "/") == "" && u.RawQuery == "" && !u.ForceQuery && u.Fragment == ""
}

// page is the last argument: an empty page, the origin, or the start page that leads to the address. To the site that is a visit from
// elsewhere: cookies with SameSite=Strict come with the next click only (seen; the origin in argv gets them at once).
func (p Person) page() (string, error) {
	u, err := p.address()
	switch {
	case err != nil:
		return "", err
	case u == nil:
		return "about:blank", nil // the new tab page would ask the search engine for its picture of the day
	case bare(u):
		return u.Scheme + "://" + u.Host + "/", nil
	}
	return (&url.URL{Scheme: "file", Path: filepath.Join(p.Scratch, startPage)}).String(), nil
}
