package display

import (
	"bytes"
	"crypto/rand"
	"io"
	"os"
	"path/filepath"

	"github.com/5dive/browser/internal/fault"
	"golang.org/x/sys/unix"
)

const (
	cookieName = "MIT-MAGIC-COOKIE-1"
	cookieSize = 16
)

// cookieHead is an authority record up to the cookie itself (Xau(3)): FamilyWild, no address, no number, the protocol's
// name. A record made for one number is not offered for another, silently; a wild one always is.
var cookieHead = append(append([]byte{0xff, 0xff, 0, 0, 0, 0, 0, byte(len(cookieName))}, cookieName...), 0, cookieSize)

// writeCookie makes a fresh cookie file in dir and returns its path.
func writeCookie(dir string) (string, error) {
	path := filepath.Join(dir, "authority")
	// A file left by a display that was killed is no use to anybody; it is ours, in a directory of ours.
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return "", fault.New(fault.Failed, "cannot replace the cookie file: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return "", fault.New(fault.Failed, "cannot write the cookie file: %w", err)
	}
	cookie := make([]byte, cookieSize)
	rand.Read(cookie) // never fails (crypto/rand, Go 1.24)
	_, err = f.Write(append(bytes.Clone(cookieHead), cookie...))
	if end := f.Close(); err == nil {
		err = end
	}
	if err != nil {
		return "", fault.New(fault.Failed, "cannot write the cookie file: %w", err)
	}
	return path, nil
}

// readCookie reads the one record that writeCookie wrote. Any other content is refused: a client that shows no cookie
// would be let in by a server that lost its own.
func readCookie(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fault.New(fault.Denied, "cannot read the cookie file %s: %w", path, err)
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	record, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return nil, fault.New(fault.Denied, "cannot read the cookie file %s: %w", path, err)
	}
	cookie, ok := bytes.CutPrefix(record, cookieHead)
	if !ok || len(cookie) != cookieSize {
		return nil, fault.New(fault.Denied, "cannot use the cookie file %s: it does not hold one cookie of ours", path)
	}
	return cookie, nil
}
