package seat

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/safefile"
)

// Remove takes, as root, the seat of user out of the store. Without purge the directory with its logins stays, shut as
// it is, and report says so; with purge it is deleted, unless a profile is in use (fault.Busy). The user need not exist any
// more. A seat that is not there is no error.
//
// What is below the seat's directory is deleted with the seat's rights, not root's.
func Remove(root, user string, purge bool, report func(string)) error {
	if os.Geteuid() != 0 {
		return fault.New(fault.Denied, "cannot remove a seat: this is uid %d, want root", os.Geteuid()).Try("sudo 5dive browser setup --remove-seat=%s", user)
	}
	path, err := rootPath(root)
	if err != nil {
		return err
	}
	if !ValidName(user) {
		return fault.New(fault.Usage, "cannot use seat name %.40q: not a user name", user)
	}
	store, err := (Seat{Root: path, Name: user}).openRoot()
	if err != nil {
		return err
	}
	defer store.Close()
	dir, err := store.Sub(user)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return denied(Seat{Root: path, Name: user}.Dir(), err)
	}
	defer dir.Close()
	if !purge {
		report(fmt.Sprintf("kept %s with its logins; --purge deletes them", dir.Path()))
		return nil
	}
	if err := purgeSeat(dir); err != nil {
		return err
	}
	if err := store.RemoveDir(user); err != nil {
		return fault.New(fault.Failed, "%w", err)
	}
	report("removed " + dir.Path())
	return nil
}

// purgeSeat empties an opened seat's directory with the rights of its owner.
func purgeSeat(dir *safefile.Dir) error {
	st, err := dir.Stat()
	if err != nil {
		return denied(dir.Path(), err)
	}
	if st.Uid < firstUID || st.Uid == nobody {
		return refuse(dir.Path(), "owner", owner(int(st.Uid)), "an ordinary user")
	}
	return withRights(int(st.Uid), int(st.Gid), func() error {
		if err := idle(dir); err != nil {
			return err
		}
		if err := dir.Empty(); err != nil {
			return fault.New(fault.Failed, "%w", err)
		}
		return nil
	})
}

// idle refuses while any profile's lock is held.
func idle(dir *safefile.Dir) error {
	run, err := dir.Sub(runName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return denied(dir.Path()+"/"+runName, err)
	}
	defer run.Close()
	locks, err := run.Sub(locksName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return denied(run.Path()+"/"+locksName, err)
	}
	defer locks.Close()
	names, err := locks.Names()
	if err != nil {
		return fault.New(fault.Failed, "%w", err)
	}
	for _, name := range names {
		if err := free(locks, name); err != nil {
			return err
		}
	}
	return nil
}

// free refuses a lock that is held.
func free(locks *safefile.Dir, name string) error {
	file, err := locks.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return fault.New(fault.Denied, "%w", err)
	}
	defer file.Close()
	if err := unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB); err != nil {
		return fault.New(fault.Busy, "cannot remove the seat: %s has its profile %s", holder(file), name)
	}
	return nil
}

// withRights runs f with the file rights of an ordinary user and no groups: the kernel then refuses whatever that user
// could not do himself. Only one thread changes, and it ends with f, so that no other goroutine ever runs on it.
func withRights(uid, gid int, f func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			// The main thread never ends, and what /proc tells of it counts for the whole process. While this goroutine
			// holds it, the next one gets another.
			result <- withRights(uid, gid, f)
			runtime.UnlockOSThread()
			return
		}
		if err := takeRights(uid, gid); err != nil {
			result <- fault.New(fault.Failed, "cannot take the rights of uid %d: %w", uid, err)
			return
		}
		result <- f() // and no unlock: the thread ends with the goroutine
	}()
	return <-result
}

// takeRights uses the raw calls, which change the calling thread alone; those of package syscall change the process.
func takeRights(uid, gid int) error {
	if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); errno != 0 {
		return errno
	}
	if err := unix.Setfsgid(gid); err != nil {
		return err
	}
	if err := unix.Setfsuid(uid); err != nil {
		return err
	}
	// setfsuid reports no failure: the answer to a second, impossible call is the id in force.
	if now, err := unix.SetfsuidRetUid(-1); err != nil || now != uid {
		return unix.EPERM
	}
	if now, err := unix.SetfsgidRetGid(-1); err != nil || now != gid {
		return unix.EPERM
	}
	return nil
}
