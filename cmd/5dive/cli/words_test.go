package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/5dive/browser/internal/fault"
)

// probe is a verb with every kind of flag, whose run tells what it was given.
func probe(got *string) verb {
	return verb{
		name: "probe", args: "A [B]", example: "probe a",
		flags: []flag{{name: "text", value: "TEXT"}, {name: "many", value: "TEXT", many: true}, {name: "count", value: "N", whole: true}, {name: "switch"}},
		run: func(c *call) error {
			*got = fmt.Sprintf("%s;%s;%d;%t;%s", c.flags.String("text"), strings.Join(c.flags.StringSlice("many"), "|"), c.flags.Int("count"),
				c.flags.Bool("switch"), strings.Join(c.flags.Args().Slice(), "|"))
			return nil
		},
	}
}

func run(words ...string) (string, error) {
	got := ""
	d := Deps{Stdout: io.Discard, Stderr: io.Discard}.filled()
	err := probe(&got).start(context.Background(), words, d)
	return got, err
}

func TestArrange(t *testing.T) {
	tests := []struct{ words, want string }{
		{"a", ";;0;false;a"},
		{"a --text=x", "x;;0;false;a"},
		{"--text x a b", "x;;0;false;a|b"},
		{"a --many=1,2 b --many 3", ";1,2|3;0;false;a|b"},
		{"a --switch b", ";;0;true;a|b"},
		{"a --switch=false b", ";;0;false;a|b"},
		{"a --count=-3 -switch", ";;-3;true;a"},
		{"a --text=--many", "--many;;0;false;a"},
		{"a --text - -", "-;;0;false;a|-"},
		{"a -- --switch", ";;0;false;a|--switch"},
		{"-- a --", ";;0;false;a|--"},
		{"text help", ";;0;false;text|help"}, // names of flags and of the library's own verbs are words like any
	}
	for _, test := range tests {
		if got, err := run(strings.Fields(test.words)...); got != test.want || err != nil {
			t.Errorf("%q: %q, %v, want %q", test.words, got, err, test.want)
		}
	}
}

// FuzzArrange mixes flags and positional words as the fuzzer says: the verb sees the same whatever the order, and words that make
// no sense are Usage, never a panic and never another kind.
func FuzzArrange(f *testing.F) {
	f.Add("a\x00--text=x\x00b", []byte{1, 0})
	f.Add("--text\x00-\x00--\x00-x", []byte{})
	f.Add("a\x00--many=1,2\x00--count=7\x00--switch", []byte{2, 1})
	f.Fuzz(func(t *testing.T, line string, order []byte) {
		words := strings.Split(line, "\x00")
		if asksHelp(words) || len(line) > 200 {
			return
		}
		first, err := run(words...)
		if err != nil {
			if fault.Of(err) != fault.Usage {
				t.Fatalf("%q: %v is no wrong word", words, err)
			}
			return
		}
		arranged, err := probe(new(string)).arrange(words)
		if err != nil {
			t.Fatalf("%q ran and cannot be arranged: %v", words, err)
		}
		if again, err := probe(new(string)).arrange(arranged); err != nil || !slices.Equal(again, arranged) {
			t.Fatalf("%q arranged again is %q, %v", arranged, again, err)
		}
		mixed := mix(arranged, order)
		if second, err := run(mixed...); err != nil || second != first {
			t.Fatalf("%q gives %q, but %q gives %q, %v", words, first, mixed, second, err)
		}
	})
}

// mix puts the positional words of an arranged line, which follow `--`, among its flags. Those that look like a flag keep the dashes before them.
func mix(arranged []string, order []byte) []string {
	cut := slices.Index(arranged, "--")
	flags, rest := arranged[:cut], arranged[cut+1:]
	var mixed []string
	for _, b := range order {
		switch {
		case b%2 == 0 && len(flags) > 0:
			mixed, flags = append(mixed, flags[0]), flags[1:]
		case b%2 == 1 && len(rest) > 0 && (len(rest[0]) < 2 || rest[0][0] != '-'):
			mixed, rest = append(mixed, rest[0]), rest[1:]
		}
	}
	return append(append(append(mixed, flags...), "--"), rest...)
}

// TestHintNamesNoHiddenVerb: what a keeper or a seat service refuses stands in a log that a person reads, and help knows neither.
func TestHintNamesNoHiddenVerb(t *testing.T) {
	for _, v := range verbs() {
		var out strings.Builder
		refuse(&out, v, usage("so"))
		if want := program + " help " + v.name; strings.Contains(out.String(), want) == v.hidden {
			t.Errorf("%s (hidden %t): %s", v.name, v.hidden, out.String())
		}
	}
}
