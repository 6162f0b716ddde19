package main

import (
	"errors"
	"net"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/5dive/browser/internal/fault"
)

func TestVersion(t *testing.T) {
	revision := []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "vcs.revision", Value: "0123abc"}}
	for _, row := range []struct {
		stamp, module string
		settings      []debug.BuildSetting
		want          string
	}{
		{"v1.2-3-gabc", "(devel)", revision, "v1.2-3-gabc"},
		{"", "v1.2.3", revision, "v1.2.3"},
		{"", "(devel)", revision, "0123abc"},
		{"", "(devel)", nil, "(devel)"},
		{"", "", nil, "(devel)"},
	} {
		if got := versionOf(row.stamp, &debug.BuildInfo{Main: debug.Module{Version: row.module}, Settings: row.settings}); got != row.want {
			t.Errorf("%+v: %s", row, got)
		}
	}
}

// TestReadyIsSaidOnce: a service that ends badly long after it was ready must not write to whatever the descriptor is by then.
func TestReadyIsSaidOnce(t *testing.T) {
	var said []error
	say := once(func(err error) { said = append(said, err) })
	say(nil)
	say(errors.New("the seat socket broke"))
	if len(said) != 1 || said[0] != nil {
		t.Errorf("said %v", said)
	}
}

func TestCannotListen(t *testing.T) {
	held, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	_, port, _ := net.SplitHostPort(held.Addr().String())
	for address, want := range map[string]fault.Kind{
		held.Addr().String(): fault.Busy, "192.0.2.1:8080": fault.Config, "127.0.0.1:99999": fault.Config, "8080": fault.Config,
	} {
		_, err := net.Listen("tcp4", address)
		if err == nil {
			t.Fatalf("%s can be listened on", address)
		}
		got := cannotListen(address, err)
		if fault.Of(got) != want || want == fault.Busy && !strings.Contains(fault.Hint(got), ":"+port+"'") {
			t.Errorf("%s: (%s) %v, hint %q", address, fault.Of(got), got, fault.Hint(got))
		}
	}
}
