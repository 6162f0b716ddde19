package browser

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/5dive/browser/internal/fault"
)

// Binary is one installed Chrome. The zero value is none.
type Binary struct {
	Path    string // the executable itself, no wrapper script and no symbolic link
	Name    string // as it calls itself: "Chromium", "Google Chrome", "Microsoft Edge"
	Version string // "156.0.8078.114"
	Major   int    // 156
}

// installed is where the packages put the executables, in the order of choice.
var installed = []string{
	"/opt/google/chrome/chrome",
	"/opt/microsoft/msedge/msedge",
	"/usr/lib/chromium/chromium",
}

// versionWait is how long a browser may take to tell its version; 0.05-0.3 s was seen, more on a cold disk.
const versionWait = 15 * time.Second

// Find finds the Chrome to run: choice, an absolute path, if it is not empty; else Google Chrome, Microsoft Edge, Chromium, the first that is
// installed. It runs the binary once for its version; keep the answer. A wrong choice is fault.Config, no browser is fault.Missing.
func Find(choice string) (Binary, error) { return find(choice, installed) }

func find(choice string, places []string) (Binary, error) {
	if choice != "" {
		path, err := chosen(choice)
		if err != nil {
			return Binary{}, err
		}
		return ask(path, fault.Config)
	}
	i := slices.IndexFunc(places, func(path string) bool { return executable(path) == nil })
	if i < 0 {
		return Binary{}, fault.New(fault.Missing, "cannot find a browser: none of Google Chrome, Microsoft Edge and Chromium is installed (Debian package chromium)").
			Try("sudo apt-get install chromium")
	}
	return ask(places[i], fault.Missing)
}

// chosen checks a choice and follows it to the executable.
func chosen(choice string) (string, error) {
	wrong := func(format string, args ...any) (string, error) {
		return "", fault.New(fault.Config, "cannot use browser %q: "+format, append([]any{choice}, args...)...)
	}
	if strings.Contains(choice, "--remote-debugging") {
		return wrong("a person's browser has no debugger")
	}
	if !filepath.IsAbs(choice) {
		return wrong("the choice is the absolute path of an executable file, with no arguments")
	}
	path, err := filepath.EvalSymlinks(choice)
	if err == nil {
		err = executable(path)
	}
	if err != nil {
		return wrong("%w", err)
	}
	return unwrap(choice, path)
}

// unwrap finds the executable behind a start script. The scripts add flags and environment of their own, /etc/chromium.d among them.
func unwrap(choice, path string) (string, error) {
	if !script(path) {
		return path, nil
	}
	name := filepath.Base(path)
	for _, candidate := range []string{
		filepath.Join("/usr/lib", name, name), // Debian's /usr/bin/chromium
		filepath.Join(filepath.Dir(path), "chrome"),
		filepath.Join(filepath.Dir(path), "msedge"),
	} {
		if executable(candidate) == nil && !script(candidate) {
			return candidate, nil
		}
	}
	return "", fault.New(fault.Config, "cannot use browser %q: it is a script; name the executable that it starts", choice)
}

func executable(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() || st.Mode()&0o111 == 0 {
		return fault.New(fault.Config, "%s is not an executable regular file", path)
	}
	return nil
}

func script(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	var head [2]byte
	n, _ := file.Read(head[:])
	return string(head[:n]) == "#!"
}

var versionLine = regexp.MustCompile(`^(\D*\S)\s+((\d{1,6})(?:\.\d+){3})(?:\s|$)`)

// ask runs the binary for its name and version.
func ask(path string, kind fault.Kind) (Binary, error) {
	ctx, cancel := context.WithTimeout(context.Background(), versionWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = []string{"HOME=/nonexistent", "PATH=/usr/bin:/bin", "LANG=C.UTF-8"}
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return Binary{}, fault.New(kind, "cannot ask %s for its version: %w", path, err)
	}
	found := versionLine.FindSubmatch(bytes.TrimSpace(out))
	if found == nil {
		return Binary{}, fault.New(kind, "cannot use %s: it does not tell its version as a Chrome does", path)
	}
	major, _ := strconv.Atoi(string(found[3]))
	return Binary{Path: path, Name: string(found[1]), Version: string(found[2]), Major: major}, nil
}
