package cli

import (
	_ "embed"
	"strings"
)

var (
	//go:embed completion/bash.sh
	bashScript string
	//go:embed completion/zsh.zsh
	zshScript string
	//go:embed completion/fish.fish
	fishScript string
)

func completionVerb() verb {
	return verb{
		name: "completion", args: "SHELL", short: "print what makes bash, zsh or fish complete verbs, flags and sites",
		long: "bash: source <(5dive browser completion bash)\n" +
			"zsh:  source <(5dive browser completion zsh), after compinit\n" +
			"fish: 5dive browser completion fish | source",
		example: "completion bash",
		run:     runCompletion,
	}
}

// shells are those that completion knows.
func shells() []string { return []string{"bash", "zsh", "fish"} }

func runCompletion(c *call) error {
	switch c.flags.Args().First() {
	case "bash":
		return c.print(bashScript)
	case "zsh":
		return c.print(zshScript)
	case "fish":
		return c.print(fishScript)
	}
	return usage("SHELL is one of %s", strings.Join(shells(), ", "))
}
