package serve

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/5dive/browser/browser"
	"github.com/5dive/browser/internal/fault"
)

// The scratch directory of an open profile lies in the seat's run directory. Where the paths of Unix sockets in there would be too long
// (the box's store and a seat's name of more than a few letters), it lies in /tmp, under a name that nobody can know before.
const (
	scratchPrefix = "open-"
	farPrefix     = "5dive-"
	farPlace      = "/tmp"
	scratchDigits = 10 // at most, that os.MkdirTemp adds
)

// makeScratch makes one, mode 0700.
func makeScratch(run string) (string, error) {
	place, prefix := run, scratchPrefix
	if len(run)+len("/")+len(prefix)+scratchDigits > browser.ScratchLimit {
		place, prefix = farPlace, farPrefix
	}
	dir, err := os.MkdirTemp(place, prefix)
	if err != nil {
		return "", fault.New(fault.Failed, "cannot make scratch directory: %w", err)
	}
	return dir, nil
}

// removeScratch removes one that a killed keeper left, by the path in its record, if it is one of ours still.
func removeScratch(run, path string) {
	near := filepath.Dir(path) == run
	far := filepath.Dir(path) == farPlace && strings.HasPrefix(filepath.Base(path), farPrefix)
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Getuid()) || !near && !far {
		return
	}
	os.RemoveAll(path)
}
