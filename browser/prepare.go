package browser

import (
	"bytes"
	_ "embed"
	"errors"
	"html/template"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/safefile"
)

// startPage is the file in Scratch that leads to an address with a path or a query, which must not stand in argv.
const startPage = "start.html"

//go:embed start.html
var startText string

// Prepare makes the profile and Scratch ready for one start; it comes before every start of Chrome on a saved profile, whoever starts it,
// and only while none runs on it. Files that Chrome reads are replaced whole, mode 0600; a link in place of one is fault.Denied.
func (p Person) Prepare() error {
	if err := p.check(); err != nil {
		return err
	}
	if err := prepare(p.UserData); err != nil {
		return err
	}
	return p.writeStartPage()
}

// prepare is what each way of opening a profile has in common. Preferences and the removal of Sessions belong together: with the preference
// alone every old tab opens again, with the removal alone every cookie without an expiry is lost.
func prepare(userData string) error {
	top, err := safefile.Open(userData)
	if err != nil {
		return cannotPrepare(err)
	}
	defer top.Close()
	profile, err := subdirectory(top, "Default")
	if err != nil {
		return cannotPrepare(err)
	}
	defer profile.Close()
	for _, step := range []func() error{
		func() error { return writePreferences(profile) },
		func() error { return removeTree(profile, "Sessions") },
		// Without it Chrome takes defaults of the distribution (/etc/chromium) on the first start: pages, bubbles, extensions.
		func() error { return touch(top, "First Run") },
	} {
		if err := step(); err != nil {
			return cannotPrepare(err)
		}
	}
	return nil
}

func cannotPrepare(err error) error {
	kind := fault.Failed
	for _, refused := range []error{unix.ELOOP, unix.ENOTDIR, unix.EXDEV, safefile.ErrLinked, safefile.ErrNotRegular, safefile.ErrLarge, fs.ErrPermission} {
		if errors.Is(err, refused) {
			kind = fault.Denied
		}
	}
	return fault.New(kind, "cannot prepare the profile: %w", err)
}

func subdirectory(dir *safefile.Dir, name string) (*safefile.Dir, error) {
	sub, err := dir.Sub(name)
	if errors.Is(err, fs.ErrNotExist) {
		return dir.Make(name, 0o700)
	}
	return sub, err
}

func removeTree(dir *safefile.Dir, name string) error {
	sub, err := dir.Sub(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer sub.Close()
	if err := sub.Empty(); err != nil {
		return err
	}
	return dir.RemoveDir(name)
}

func touch(dir *safefile.Dir, name string) error {
	if _, err := dir.Look(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return dir.Replace(name, nil, 0o600)
}

// writeStartPage puts the start page into Scratch, or takes away that of an earlier start.
func (p Person) writeStartPage() error {
	scratch, err := safefile.Open(p.Scratch)
	if err != nil {
		return cannotPrepare(err)
	}
	defer scratch.Close()
	u, err := p.address()
	if err != nil {
		return err
	}
	if u == nil || bare(u) {
		err = scratch.RemoveFile(startPage)
	} else {
		var text bytes.Buffer
		template.Must(template.New(startPage).Parse(startText)).Execute(&text, u.String()) // a Buffer takes everything
		err = scratch.Replace(startPage, text.Bytes(), 0o600)
	}
	if err != nil {
		return cannotPrepare(err)
	}
	return nil
}
