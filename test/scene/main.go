// Package scene is the product on this machine, whole, for the end-to-end tests of package attack and package life: the binary built from
// this checkout, a seat in a throwaway store, the demo site as the witness, and words for what a test does to them and looks at.
//
// It needs root, since it makes users and becomes them. A test binary of these packages also plays other processes (Role); they are the
// binary itself, run as another user. What a Scene started has ended when the test has; a test that leaves something running fails.
// It trusts everything that it starts and refuses nothing; a step that does not work ends the test.
package scene

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Role is another process that a test binary plays.
type Role func(args []string) error

// Main is the TestMain of a package: it plays a role for the words "role NAME ARGS", else it runs the tests.
func Main(m *testing.M, roles map[string]Role) {
	if len(os.Args) > 2 && os.Args[1] == "role" {
		play, ok := roles[os.Args[2]]
		if !ok {
			fmt.Fprintln(os.Stderr, "no such role:", os.Args[2])
			os.Exit(2)
		}
		if err := play(os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if product.dir != "" {
		os.RemoveAll(product.dir)
	}
	os.Exit(code)
}

// product is the binary under test, built when the first test wants it.
var product struct {
	once sync.Once
	dir  string
	err  error
}

// Product is the path of the binary, in a directory where every user may run it.
func Product(t testing.TB) string {
	t.Helper()
	product.once.Do(build)
	if product.err != nil {
		t.Fatalf("cannot build the product: %v", product.err)
	}
	return filepath.Join(product.dir, "5dive")
}

func build() {
	dir, err := os.MkdirTemp("/tmp", "5dbin")
	if err == nil {
		product.dir = dir
		err = os.Chmod(dir, 0o755)
	}
	if err == nil {
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "5dive"), "github.com/5dive/browser/cmd/5dive")
		var out []byte
		if out, err = cmd.CombinedOutput(); err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
	}
	product.err = err
}
