package cli

import (
	"context"
	"slices"
	"strings"
	"time"
)

// completeWithin bounds how long a person waits at the Tab key for site names.
const completeWithin = time.Second

// completeVerb prints one candidate a line for the last of its words, which are those after the program's name. The scripts of
// completion call it. It never refuses: with nothing to offer it prints nothing.
func completeVerb() verb {
	return verb{name: "complete", hidden: true, raw: true, run: func(c *call) error {
		ctx, cancel := context.WithTimeout(c.ctx, completeWithin)
		defer cancel()
		var b strings.Builder
		for _, word := range candidates(ctx, c.deps, rejoin(c.words)) {
			b.WriteString(oneLine(word) + "\n")
		}
		return c.print(b.String())
	}}
}

// rejoin undoes what bash does to `--bind=x`, which it cuts into `--bind`, `=`, `x`.
func rejoin(words []string) []string {
	var joined []string
	for i, word := range words {
		last := len(joined) - 1
		if last >= 0 && strings.HasPrefix(joined[last], "--") && (word == "=" || words[i-1] == "=") {
			joined[last] += word
			continue
		}
		joined = append(joined, word)
	}
	return joined
}

// candidates are the words that may stand in the place of the last of words. A value of a flag comes without the flag.
func candidates(ctx context.Context, d Deps, words []string) []string {
	if len(words) == 0 {
		return nil
	}
	done, word := words[:len(words)-1], words[len(words)-1]
	if len(done) == 0 {
		return matching(verbNames(), word)
	}
	v, typed, err := find(done)
	if err != nil || v.hidden {
		return nil
	}
	if name, value, ok := strings.Cut(word, "="); ok && strings.HasPrefix(name, "--") {
		return matching(v.values(name[2:]), value)
	}
	if len(typed) > 0 && v.wants(typed[len(typed)-1]) {
		return matching(v.values(strings.TrimPrefix(typed[len(typed)-1], "--")), word)
	}
	if strings.HasPrefix(word, "-") {
		return matching(v.unused(typed), word)
	}
	return matching(v.positional(ctx, d, typed), word)
}

func matching(words []string, prefix string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, prefix) })
}

func verbNames() []string {
	var names []string
	for _, v := range verbs() {
		if !v.hidden {
			names = append(names, v.name)
		}
	}
	return names
}

// wants tells whether word is a flag of v whose value is the next word.
func (v verb) wants(word string) bool {
	if len(word) < 2 || word[0] != '-' {
		return false
	}
	f, _, given, err := v.flag(word)
	return err == nil && f.value != "" && !given
}

// values are the known values of a flag.
func (v verb) values(name string) []string {
	for _, f := range v.flags {
		if f.name == name {
			return f.known
		}
	}
	return nil
}

// unused are the flags of v that may still be given, those with a value ending in =.
func (v verb) unused(typed []string) []string {
	var names []string
	for _, f := range v.flags {
		given := slices.ContainsFunc(typed, func(w string) bool { return w == "--"+f.name || strings.HasPrefix(w, "--"+f.name+"=") })
		if given && !f.many {
			continue
		}
		if f.value == "" {
			names = append(names, "--"+f.name)
		} else {
			names = append(names, "--"+f.name+"=")
		}
	}
	return names
}

// positional are the words for the next positional place of v: sites, verbs or shells.
func (v verb) positional(ctx context.Context, d Deps, typed []string) []string {
	seat, place, names := "", 0, strings.Fields(v.args)
	for i := 0; i < len(typed); i++ {
		if !strings.HasPrefix(typed[i], "-") {
			place++
			continue
		}
		if value, ok := strings.CutPrefix(typed[i], "--seat="); ok {
			seat = value
		}
		if v.wants(typed[i]) {
			if i++; i < len(typed) && typed[i-1] == "--seat" {
				seat = typed[i]
			}
		}
	}
	if place >= len(names) {
		return nil
	}
	if fixed(names[place]) {
		return []string{names[place]}
	}
	switch strings.Trim(names[place], "[]") {
	case "VERB":
		return verbNames()
	case "SHELL":
		return shells()
	case "SITE":
		if d.Sites != nil {
			sites, _ := d.Sites(ctx, seat) // a person at the Tab key is told nothing
			return sites
		}
	}
	return nil
}
