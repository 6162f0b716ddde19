// Package view_test holds a view to what a person may expect of it, end to end: the built product with a real seat service, Xvfb,
// Chromium and VNC server on the one side, a real headless Chromium on the viewer page on the other, and the log of the demo site as
// the witness of what arrived. Everything of TestView runs in full for each VNC server.
//
// It needs root, to make the users that seat and person are. VIEW_SHOTS names a directory for pictures; VIEW_SERVERS narrows the VNC
// servers while one works on a test.
package view_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// product is the built binary, in a directory that every user may enter.
var product string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("/tmp", "5dview")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	product = filepath.Join(dir, "5dive")
	build := exec.Command("go", "build", "-o", product, "github.com/5dive/browser/cmd/5dive")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "cannot build the product: %v\n%s", err, out)
		return 1
	}
	for _, path := range []string{dir, product} {
		if err := os.Chmod(path, 0o755); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}
