package cli

import "strings"

func settingsVerb() verb {
	return verb{
		name: "settings", args: "[KEY=VALUE...]", short: "show or change the seat's time zone, locale, Chrome and VNC server",
		long:    "Without words it shows every setting. A change takes effect at the next serve; a browser that is open stays as it is.",
		example: "settings time_zone=Europe/Berlin locale=de-DE",
		flags: []flag{
			{name: "reset", value: "KEY", short: "this key goes back to the box's default; may be given again", many: true},
			{name: "reset-all", short: "every key does, even where the file cannot be read"},
			seatFlag(), jsonFlag(),
		},
		run: runSettings,
	}
}

// settingsAnswer is every setting as it now is.
type settingsAnswer struct {
	Changed  bool      `json:"changed"`
	Settings []Setting `json:"settings"`
}

func runSettings(c *call) error {
	change, err := settingsChange(c.flags.Args().Slice(), c.flags.StringSlice("reset"), c.flags.Bool("reset-all"))
	if err != nil {
		return err
	}
	if c.deps.Settings == nil {
		return absent()
	}
	all, err := c.deps.Settings(c.ctx, c.flags.String("seat"), change)
	if err != nil {
		return err
	}
	answer := settingsAnswer{Changed: change.All || len(change.Set)+len(change.Reset) > 0, Settings: all}
	rows := [][]string{{"KEY", "DEFAULT", "VALUE"}}
	for _, s := range all {
		isDefault := "no"
		if s.Default {
			isDefault = "yes"
		}
		rows = append(rows, []string{s.Key, isDefault, s.Value})
	}
	if err := c.answer(answer, table(rows)); err != nil {
		return err
	}
	if answer.Changed {
		c.story.say("it takes effect at the next serve; a browser that is open stays as it is")
	}
	return nil
}

// settingsChange reads the words. A value is not looked at here, and in no refusal.
func settingsChange(words, reset []string, all bool) (SettingsChange, error) {
	change := SettingsChange{Set: map[string]string{}, Reset: reset, All: all}
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		if !ok || key == "" {
			return change, usage("a change is one word KEY=VALUE")
		}
		if value == "" {
			return change, usage("a value is missing; --reset=KEY gives back the default")
		}
		if _, twice := change.Set[key]; twice {
			return change, usage("one key stands there twice")
		}
		change.Set[key] = value
	}
	if all && len(words)+len(reset) > 0 {
		return change, usage("--reset-all goes alone")
	}
	for _, key := range reset {
		if _, both := change.Set[key]; both || key == "" {
			return change, usage("--reset=KEY wants a key that is not set by the same words")
		}
	}
	return change, nil
}
