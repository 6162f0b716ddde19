package display

import (
	"os"
	"path/filepath"

	"github.com/5dive/browser/internal/fault"
)

// programDirs is where programs are looked for. The caller's PATH is not asked: it may hold a directory of a page's
// download or of another user.
var programDirs = []string{"/usr/bin", "/usr/local/bin", "/bin"}

// packages names the Debian package of each program.
var packages = map[string]string{
	"Xvfb": "xvfb", "openbox": "openbox", "X0tigervnc": "tigervnc-scraping-server", "x11vnc": "x11vnc",
}

// program finds a program's path.
func program(name string) (string, error) {
	for _, dir := range programDirs {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path, nil
		}
	}
	return "", missing(name)
}

func missing(name string) error {
	e := fault.New(fault.Missing, "cannot find the program %s", name)
	if p, ok := packages[name]; ok {
		e = e.Try("sudo apt-get install %s", p)
	}
	return e
}

// environment of a child, made from nothing: an inherited one can redirect a program (LD_*, XDG_*, GTK_MODULES), carry
// a secret, or name another user's screen.
func environment(scratch string, more ...string) []string {
	return append([]string{"HOME=" + scratch, "PATH=/usr/bin:/bin", "LANG=C.UTF-8"}, more...)
}

// clientEnvironment is the environment of an X client of d.
func (d *Display) clientEnvironment(more ...string) []string {
	return environment(d.config.Scratch, append([]string{"DISPLAY=" + d.Name(), "XAUTHORITY=" + d.authority}, more...)...)
}
