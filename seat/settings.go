package seat

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	_ "time/tzdata" // a box without the tzdata package still knows the names
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/safefile"
	"github.com/5dive/browser/internal/strict"
)

// Settings is <seat>/settings.json. Every field may be empty: the box's default.
type Settings struct {
	TimeZone string `json:"time_zone"` // an IANA name, Europe/Berlin
	Locale   string `json:"locale"`    // de-DE, en
	Chrome   string `json:"chrome"`    // absolute path of the real binary, or a name that package browser knows
	VNC      string `json:"vnc"`       // tigervnc or x11vnc
}

var (
	localeForm = regexp.MustCompile(`^[a-z]{2,3}([-_][A-Za-z0-9]{2,8}){0,3}$`)
	chromeForm = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
)

// Settings reads settings.json; the zero Settings if there is none. A fault in it is fault.Config of one line that
// begins with file:line:column.
func (s Seat) Settings() (Settings, error) {
	var settings Settings
	dir, err := s.open()
	if err != nil {
		return settings, err
	}
	defer dir.Close()
	file, err := s.openSettings(dir)
	if err != nil || file == nil {
		return settings, err
	}
	file.Close()
	data, err := dir.Read(settingsName, maxRecord)
	if err != nil {
		return settings, fault.New(fault.Config, "%w", err)
	}
	return decodeSettings(filepath.Join(s.Dir(), settingsName), data)
}

// decodeSettings is the one decoder: of what is read, and of what is about to be written. Refusals begin with name:line:column.
func decodeSettings(name string, data []byte) (Settings, error) {
	var settings Settings
	if err := strict.Decode(name, data, &settings); err != nil {
		return Settings{}, err
	}
	if err := settings.check(name, data); err != nil {
		return Settings{}, err
	}
	return settings, nil
}

// openSettings opens settings.json, nil if there is none. A person's editor may have made it 0644, which his directory
// covers; root may own it, where the operator wrote it.
func (s Seat) openSettings(dir *safefile.Dir) (*os.File, error) {
	file, err := dir.OpenFile(settingsName, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	path := filepath.Join(dir.Path(), settingsName)
	if errors.Is(err, unix.ELOOP) {
		return nil, refuse(path, "type", "a symbolic link", "a file").Try("rm %s", path)
	}
	if errors.Is(err, safefile.ErrNotRegular) {
		return nil, refuse(path, "type", "a FIFO, socket, device or directory", "a file").Try("rm -r %s", path)
	}
	if err != nil {
		return nil, fault.New(fault.Denied, "%w", err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &st); err != nil {
		file.Close()
		return nil, fault.New(fault.Denied, "cannot stat %s: %w", path, err)
	}
	switch {
	case int(st.Uid) != s.UID && st.Uid != 0:
		err = refuse(path, "owner", owner(int(st.Uid)), owner(s.UID))
	case st.Mode&0o022 != 0:
		err = refuse(path, "mode", octal(st.Mode&0o7777), "no writing for group and others").Try("chmod 0600 %s", path)
	default:
		return file, nil
	}
	file.Close()
	return nil, err
}

// check looks at the values, each refusal at its place in the file.
func (v Settings) check(path string, data []byte) error {
	for _, s := range v.list() {
		if *s.value != "" && !s.valid(*s.value) {
			return strict.Refuse(path, data, "/"+s.key, "%s", s.want)
		}
	}
	return nil
}

// validZone refuses "Local", which would be the box's zone under another name.
func validZone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil && name != "Local"
}

func validVNC(server string) bool { return server == "tigervnc" || server == "x11vnc" }

func validChrome(choice string) bool {
	if !utf8.ValidString(choice) {
		return false
	}
	if strings.HasPrefix(choice, "/") {
		return filepath.Clean(choice) == choice && !strings.ContainsAny(choice, "\x00\n")
	}
	return chromeForm.MatchString(choice)
}
