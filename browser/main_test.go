package browser

import (
	"flag"
	"os"
	"testing"

	"github.com/5dive/browser/internal/testuser"
)

// TestMain runs the tests as an ordinary user, made for them when root runs them: Chrome refuses to run as root.
func TestMain(m *testing.M) {
	flag.Parse()
	if os.Geteuid() == 0 {
		os.Setenv(wanted, flag.Lookup("test.run").Value.String())
		flag.Set("test.run", "^TestAsOrdinaryUser$")
	} else {
		flag.Set("test.skip", "^TestAsOrdinaryUser$")
	}
	os.Exit(m.Run())
}

const wanted = "BROWSER_TEST_RUN"

func TestAsOrdinaryUser(t *testing.T) {
	if err := os.Mkdir("/tmp/.X11-unix", 0o1777); err == nil {
		os.Chmod("/tmp/.X11-unix", os.ModeSticky|0o777)
	}
	child := testuser.Self(testuser.New(t), "-test.run="+os.Getenv(wanted), "-test.v", "-test.timeout="+flag.Lookup("test.timeout").Value.String())
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	if err := child.Run(); err != nil {
		t.Fatalf("the tests as an ordinary user: %v", err)
	}
}
