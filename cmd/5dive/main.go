// Command 5dive is the one binary of the product: `5dive browser VERB`, or `5dive-browser VERB` by a second name.
// It only ties package cli to the packages that do the work.
package main

import (
	"os"

	"github.com/5dive/browser/cmd/5dive/cli"
)

func main() { os.Exit(cli.Main(os.Args, deps())) }
