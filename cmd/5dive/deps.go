package main

import (
	"runtime/debug"

	"github.com/5dive/browser/cmd/5dive/cli"
)

// deps ties the verbs to the packages that do the work. What is nil here refuses with `missing`.
func deps() cli.Deps {
	return cli.Deps{Version: version()}
}

// version is what the Go toolchain recorded about this build.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
