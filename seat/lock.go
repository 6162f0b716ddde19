package seat

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/safefile"
)

const locksName = "locks"

// Lock takes the lock of one profile, for this process and everyone it hands the file to; it is held until the last copy
// of the file is closed. A lock that is held is fault.Busy, which names the holder's pid. Lock files stay: removing one
// would let two hold it.
func (s Seat) Lock(site Site) (*os.File, error) {
	if err := errors.Join(site.validate(), s.mine()); err != nil {
		return nil, err
	}
	dir, err := s.place(runName, locksName)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return lock(dir, site)
}

func lock(dir *safefile.Dir, site Site) (*os.File, error) {
	file, err := dir.OpenFile(site.ID(), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return nil, fault.New(fault.Failed, "cannot lock profile %s: %w", site, err)
	}
	if err != nil {
		return nil, fault.New(fault.Denied, "%w", err)
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		defer file.Close()
		return nil, fault.New(fault.Busy, "cannot use profile %s: %s has it", site, holder(file))
	}
	if err == nil {
		err = sign(file)
	}
	if err != nil {
		file.Close()
		return nil, fault.New(fault.Failed, "cannot lock profile %s: %w", site, err)
	}
	return file, nil
}

// sign writes who holds the lock, for the message of the next who wants it. It has no other meaning.
func sign(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

func holder(file *os.File) string {
	var text [16]byte
	n, _ := file.ReadAt(text[:], 0)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text[:n])))
	if err != nil || pid <= 0 {
		return "another process"
	}
	return "process " + strconv.Itoa(pid)
}
