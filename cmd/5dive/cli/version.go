package cli

import "runtime"

func versionVerb() verb {
	return verb{
		name: "version", short: "tell the version of this program, and of the seat service that runs",
		example: "version",
		flags:   []flag{seatFlag(), jsonFlag()},
		run:     runVersion,
	}
}

// versionAnswer names what is installed, and what runs.
type versionAnswer struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	Service string `json:"service"` // version of the seat service that runs, or "" where none does
}

func runVersion(c *call) error {
	answer := versionAnswer{Version: c.deps.Version, Go: runtime.Version()}
	if c.deps.Running != nil {
		if r, ok := c.deps.Running(c.ctx, c.flags.String("seat")); ok {
			answer.Service = r.Version
		}
	}
	text := pairs("version", answer.Version, "go", answer.Go)
	if answer.Service != "" {
		text += pairs("service", answer.Service)
	}
	if err := c.answer(answer, text); err != nil {
		return err
	}
	if answer.Service != "" && answer.Service != answer.Version {
		c.story.say("the seat service still runs another version; it is this one from its next start")
	}
	return nil
}
