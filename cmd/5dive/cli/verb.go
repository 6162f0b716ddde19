package cli

import (
	"context"
	"regexp"
	"strings"

	urfave "github.com/urfave/cli/v2"
)

// verb is one word of the command line with all that help, completion and the parser know of it.
type verb struct {
	name    string
	args    string // the positional words: "SITE", "[SITE]" (optional), "[SITE...]" (any number), "rm" (that very word)
	short   string // one line of the overview
	long    string // more of it, or ""
	example string // a command that works, without the program's name
	flags   []flag
	hidden  bool // not in help and not completed
	raw     bool // the words are its own: nothing is parsed
	lasting bool // a second signal does not end it either
	first   func(c *call) error
	run     func(c *call) error
}

// flag is one `--name`, `--name=VALUE` where value is set.
type flag struct {
	name  string
	value string // what stands after the =; "" for a switch
	short string
	need  bool
	many  bool     // may be given more than once
	whole bool     // a whole number
	known []string // values that completion offers
}

func seatFlag() flag {
	return flag{name: "seat", value: "USER", short: "the seat, for root and the relay; a seat is always itself"}
}

func jsonFlag() flag { return flag{name: "json", short: "print one JSON object"} }

// verbs is the whole table, in the order of the overview.
func verbs() []verb {
	return []verb{setupVerb(), authVerb(), serveVerb(), viewerVerb(), redeemVerb(), revokeVerb(), listVerb(), statusVerb(),
		settingsVerb(), profileVerb(), relayVerb(), versionVerb(), helpVerb(), completionVerb(), completeVerb(), seatdVerb(), keeperVerb()}
}

// find takes the verb from the front of the words. `--help`, `-h` and `--version` alone are the verbs that they name.
func find(words []string) (verb, []string, error) {
	if len(words) == 0 {
		return verb{}, nil, usage("a verb is missing")
	}
	name := words[0]
	switch name {
	case "--help", "-help", "-h":
		name = "help"
	case "--version", "-version":
		name = "version"
	}
	for _, v := range verbs() {
		if v.name == name {
			return v, words[1:], nil
		}
	}
	if strings.HasPrefix(name, "-") {
		return verb{}, nil, usage("the verb comes first, flags after it")
	}
	return verb{}, nil, usage("there is no such verb").Try("%s help", program)
}

// start parses the words of v and runs it. The library sees every word in its own order and is left nothing to print.
func (v verb) start(ctx context.Context, words []string, d Deps) error {
	c := &call{ctx: ctx, deps: d, verb: v, words: words, story: newStory(d.Stderr, d.Getenv)}
	defer c.story.close()
	if v.raw {
		return v.run(c)
	}
	if asksHelp(words) {
		return c.print(v.help())
	}
	words, err := v.arrange(words)
	if err != nil {
		return err
	}
	return v.app(c).RunContext(ctx, append([]string{program, v.name}, words...))
}

// app cures the library's own ways: lists are not cut at commas, an error is left alone, and nothing is printed or exited for us.
func (v verb) app(c *call) *urfave.App {
	command := &urfave.Command{Name: v.name, HideHelp: true, OnUsageError: v.mistake, Action: func(u *urfave.Context) error {
		c.flags = u
		return v.checked(c)
	}}
	for _, f := range v.flags {
		command.Flags = append(command.Flags, f.urfave())
	}
	return &urfave.App{
		Name: program, HideHelp: true, HideVersion: true, DisableSliceFlagSeparator: true,
		Writer: discard{}, ErrWriter: discard{}, Reader: strings.NewReader(""),
		ExitErrHandler: func(*urfave.Context, error) {}, OnUsageError: v.mistake,
		Commands: []*urfave.Command{command},
	}
}

// checked runs v once its words are known to be complete.
func (v verb) checked(c *call) error {
	if v.first != nil {
		if err := v.first(c); err != nil {
			return err
		}
	}
	if err := v.count(c.flags.Args().Slice()); err != nil {
		return err
	}
	for _, f := range v.flags {
		if f.need && c.flags.String(f.name) == "" {
			return usage("--%s=%s is missing", f.name, f.value)
		}
	}
	return v.run(c)
}

// count holds the positional words against the names in v.args.
func (v verb) count(words []string) error {
	names := strings.Fields(v.args)
	for i, name := range names {
		if optional := strings.HasPrefix(name, "["); !optional && (i >= len(words) || words[i] == "") {
			return usage("%s is missing", name)
		}
		if fixed(name) && words[i] != name {
			return usage("the word `%s` comes first", name)
		}
	}
	if len(words) > len(names) && !strings.HasSuffix(v.args, "...]") {
		if len(names) == 0 {
			return usage("it takes flags only")
		}
		return usage("it takes one %s and no more", strings.Trim(v.args, "[]"))
	}
	return nil
}

// title is v as one types it, with the word that always follows: `profile rm`.
func (v verb) title() string {
	words := []string{v.name}
	for _, name := range strings.Fields(v.args) {
		if fixed(name) {
			words = append(words, name)
		}
	}
	return strings.Join(words, " ")
}

// fixed tells whether a name in v.args stands for itself.
func fixed(name string) bool { return strings.ToLower(name) == name }

var badValue = regexp.MustCompile(`^invalid (?:boolean )?value .* for (?:flag )?-?([a-z-]+)(?::.*)?$`)

// mistake says in our words what the library could not parse, without the value: that may be a secret.
func (v verb) mistake(_ *urfave.Context, err error, _ bool) error {
	if m := badValue.FindStringSubmatch(strings.ReplaceAll(err.Error(), "\n", " ")); m != nil {
		for _, f := range v.flags {
			if f.name == m[1] && f.whole {
				return usage("--%s wants a whole number", f.name)
			}
		}
		return usage("--%s takes no such value", m[1])
	}
	return usage("cannot read the flags")
}

func (f flag) urfave() urfave.Flag {
	switch {
	case f.value == "":
		return &urfave.BoolFlag{Name: f.name}
	case f.many:
		return &urfave.StringSliceFlag{Name: f.name}
	case f.whole:
		return &urfave.IntFlag{Name: f.name}
	default:
		return &urfave.StringFlag{Name: f.name}
	}
}

// discard takes what the library wants to say.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
