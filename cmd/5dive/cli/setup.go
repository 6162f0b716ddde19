package cli

import (
	"strings"

	"github.com/5dive/browser/internal/fault"
)

func setupVerb() verb {
	return verb{
		name: "setup", short: "make the store and the seats (root)",
		long: "Makes the profile store, and below it a directory for each --seat=USER that only this user can read. It may be run\n" +
			"again at any time. Without flags it makes the store alone.",
		example: "setup --seat=alice",
		flags: []flag{
			{name: "seat", value: "USER", short: "a user who gets a seat; may be given again", many: true},
			{name: "remove-seat", value: "USER", short: "a seat that ends; its profiles stay unless --purge"},
			{name: "purge", short: "with --remove-seat: delete its profiles, and with them every login"},
			{name: "check", short: "change nothing and say what would be changed"},
			jsonFlag(),
		},
		run: runSetup,
	}
}

// setupAnswer is what setup did, or would do.
type setupAnswer struct {
	Checked bool     `json:"checked"`
	Changes []string `json:"changes"`
}

func runSetup(c *call) error {
	s := Setup{Seats: c.flags.StringSlice("seat"), Remove: c.flags.String("remove-seat"), Purge: c.flags.Bool("purge"),
		Check: c.flags.Bool("check")}
	if err := s.words(); err != nil {
		return err
	}
	if c.deps.Setup == nil {
		return absent()
	}
	if c.deps.UID() != 0 && !s.Check {
		return fault.New(fault.Denied, "only root may do it").Try("%s", strings.Join(append([]string{"sudo", program, "setup"}, c.words...), " "))
	}
	answer := setupAnswer{Checked: s.Check, Changes: []string{}}
	var lines strings.Builder
	err := c.deps.Setup(c.ctx, s, func(change string) {
		answer.Changes = append(answer.Changes, change)
		lines.WriteString(pairs("change", change))
	})
	if err != nil {
		for _, change := range answer.Changes {
			c.story.say("%s", change)
		}
		return err
	}
	if err := c.answer(answer, lines.String()); err != nil {
		return err
	}
	c.story.say("units: this version installs none; the first verb of a seat starts its service")
	return nil
}

// words refuses what contradicts itself.
func (s Setup) words() error {
	for _, name := range s.Seats {
		switch name {
		case "":
			return usage("--seat=USER wants a value")
		case s.Remove:
			return usage("--seat and --remove-seat name the same user")
		}
	}
	if s.Purge && s.Remove == "" {
		return usage("--purge goes with --remove-seat=USER")
	}
	if s.Check && s.Remove != "" {
		return usage("--check tells what would be made, so it goes without --remove-seat")
	}
	return nil
}
