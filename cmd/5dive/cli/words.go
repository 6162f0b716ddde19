package cli

import "strings"

// arrange puts the words of v in the order that the library wants: flags as --name=value, then `--`, then the positional words.
// So flags may stand anywhere. A word after `--` is positional; a lone `-` is too. What is wrong with a flag's name or value is
// said here, since the library would take the next flag for a value.
func (v verb) arrange(words []string) ([]string, error) {
	var flags, rest []string
	seen := map[string]bool{}
	for i := 0; i < len(words); i++ {
		word := words[i]
		if word == "--" {
			rest = append(rest, words[i+1:]...)
			break
		}
		if len(word) < 2 || word[0] != '-' {
			rest = append(rest, word)
			continue
		}
		f, value, given, err := v.flag(word)
		if err != nil {
			return nil, err
		}
		if seen[f.name] && !f.many {
			return nil, usage("--%s stands there twice", f.name)
		}
		seen[f.name] = true
		if f.value == "" && !given {
			value = "true"
		}
		if f.value != "" && !given {
			if i++; i == len(words) || words[i] != "-" && strings.HasPrefix(words[i], "-") {
				return nil, usage("--%s=%s wants a value", f.name, f.value)
			}
			value = words[i]
		}
		flags = append(flags, "--"+f.name+"="+value)
	}
	return append(append(flags, "--"), rest...), nil
}

// asksHelp tells whether help is asked for, with whatever else: the library's own help flag is never reached.
func asksHelp(words []string) bool {
	for _, word := range words {
		switch word {
		case "--":
			return false
		case "--help", "-help", "-h":
			return true
		}
	}
	return false
}

// flag looks up a word that begins with a dash, and cuts off the value that it carries.
func (v verb) flag(word string) (f flag, value string, given bool, err error) {
	name, value, given := strings.Cut(strings.TrimPrefix(word[1:], "-"), "=")
	for _, f := range v.flags {
		if f.name == name {
			return f, value, given, nil
		}
	}
	if !plain(name) { // it may be a secret typed in the wrong place
		return flag{}, "", false, usage("there is no such flag")
	}
	return flag{}, "", false, usage("there is no flag --%s", name)
}

// plain tells whether a name looks like a flag's.
func plain(name string) bool {
	return len(name) > 0 && len(name) <= 20 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") == ""
}
