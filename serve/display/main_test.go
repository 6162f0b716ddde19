package display

import (
	"os"
	"testing"
)

// roles are the other processes of a test: the test binary itself, run as an ordinary user.
var roles = map[string]func(args []string) error{
	"seat":  seatRole,
	"squat": squatRole,
	"shmat": shmatRole,
	"greet": greetRole,
}

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "role" {
		if err := roles[os.Args[2]](os.Args[3:]); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
