package cli

import (
	"fmt"
	"slices"
	"strings"
)

func helpVerb() verb {
	return verb{
		name: "help", args: "[VERB]", short: "list the verbs, or explain one with an example that works",
		example: "help viewer",
		run:     runHelp,
	}
}

func runHelp(c *call) error {
	name := c.flags.Args().First()
	if name == "" {
		return c.print(overview())
	}
	for _, v := range verbs() {
		if v.name == name && !v.hidden {
			return c.print(v.help())
		}
	}
	return usage("there is no such verb").Try("%s help", program)
}

// overview is one line a verb.
func overview() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: a person logs in once, in a real browser on this box; the login stays here.\n\n", program)
	rows := [][]string{}
	for _, v := range verbs() {
		if !v.hidden {
			rows = append(rows, []string{"  " + strings.TrimSpace(v.name+" "+v.args), v.short})
		}
	}
	b.WriteString(table(rows))
	fmt.Fprintf(&b, "\n%s help VERB explains one.\n", program)
	return b.String()
}

// help explains v: the line to type, what it does, its flags, and the example.
func (v verb) help() string {
	var b strings.Builder
	line := []string{program, v.name}
	if v.args != "" {
		line = append(line, v.args)
	}
	for _, f := range v.flags {
		if f.need {
			line = append(line, f.typed())
		}
	}
	if slices.ContainsFunc(v.flags, func(f flag) bool { return !f.need }) {
		line = append(line, "[flags]")
	}
	fmt.Fprintf(&b, "%s\n\n%s.\n", strings.Join(line, " "), upper(v.short))
	if v.long != "" {
		fmt.Fprintf(&b, "%s\n", v.long)
	}
	if len(v.flags) > 0 {
		rows := [][]string{}
		for _, f := range v.flags {
			rows = append(rows, []string{"  " + f.typed(), f.short})
		}
		fmt.Fprintf(&b, "\n%s", table(rows))
	}
	fmt.Fprintf(&b, "\nexample:\n  %s %s\n", program, v.example)
	return b.String()
}

// typed is f as one types it.
func (f flag) typed() string {
	if f.value == "" {
		return "--" + f.name
	}
	return "--" + f.name + "=" + f.value
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
