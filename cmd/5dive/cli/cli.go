// Package cli is the command line of the product: one file a verb, wiring and words only. It owns the order of the words, the
// help, what goes to stdout (the answer) and to stderr (the story), and the exit code; it decides nothing about profiles.
//
// It refuses wrong words itself (exit 2) before it touches anything, and never repeats the value of a flag in a refusal, since a
// value may be a secret. Every other refusal is a fault.Kind that came from elsewhere. Times are seconds, sizes pixels. It trusts
// the seat service that Deps.Connect reaches, and whoever typed the words no further than that person's own rights.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/5dive/browser/internal/fault"
)

// program is how every refusal, hint and example names the product, by whichever name it was called.
const program = "5dive browser"

// Main runs one command line, args[0] being the program, and gives the exit code of docs/cli.md. Called as `5dive-browser` the
// verb is the first word, otherwise the word `browser` stands before it. It handles SIGINT, SIGTERM and SIGHUP by cancelling the
// context of the verb; an interrupted verb ends with 128 plus the signal's number.
func Main(args []string, d Deps) int {
	d = d.filled()
	words, err := verbWords(args)
	if err != nil {
		return refuse(d.Stderr, verb{}, err)
	}
	v, words, err := find(words)
	if err != nil {
		return refuse(d.Stderr, v, err)
	}
	ctx, stop := catch(context.Background(), v.lasting)
	defer stop()
	err = v.start(ctx, words, d)
	if sig, ok := caught(ctx); ok && err != nil {
		fmt.Fprintf(d.Stderr, "%s %s: interrupted\n", program, v.title())
		return 128 + int(sig)
	}
	return refuse(d.Stderr, v, err)
}

// verbWords drops the program's own name, and the word `browser` where it is part of it.
func verbWords(args []string) ([]string, error) {
	if len(args) == 0 {
		return nil, nil
	}
	words := args[1:]
	if filepath.Base(args[0]) == "5dive-browser" {
		return words, nil
	}
	if len(words) == 0 || words[0] != "browser" {
		return nil, usage("the word `browser` comes first").Try("%s help", program)
	}
	return words[1:], nil
}

// refuse prints why a verb did not do its work and gives the exit code; a nil error is 0 and prints nothing.
func refuse(stderr io.Writer, v verb, err error) int {
	if err == nil {
		return 0
	}
	kind := fault.Of(err)
	if kind == fault.Usage && fault.Hint(err) == "" {
		name := v.name
		if v.hidden { // help knows nothing of it
			name = ""
		}
		err = fault.New(fault.Usage, "%w", err).Try("%s", strings.TrimSpace(program+" help "+name))
	}
	fmt.Fprintf(stderr, "%s: %s (%s)\n", strings.TrimSpace(program+" "+v.title()), oneLine(err.Error()), kind)
	if hint := fault.Hint(err); hint != "" {
		fmt.Fprintf(stderr, "try: %s\n", oneLine(hint))
	}
	return kind.Exit()
}

// usage is a refusal of the words themselves.
func usage(format string, args ...any) *fault.Error { return fault.New(fault.Usage, format, args...) }

// oneLine makes text safe to show: what a site or a service put into it must not move the cursor or begin a line of its own.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
			return ' '
		}
		return r
	}, text)
}

// errBuilt is the refusal of a verb whose work this binary does not hold.
var errBuilt = errors.New("this build cannot do it")

func absent() error { return fault.New(fault.Missing, "%w", errBuilt) }

// filled puts the process's own streams and environment where none are given.
func (d Deps) filled() Deps {
	if d.Stdin == nil {
		d.Stdin = os.Stdin
	}
	if d.Stdout == nil {
		d.Stdout = os.Stdout
	}
	if d.Stderr == nil {
		d.Stderr = os.Stderr
	}
	if d.Getenv == nil {
		d.Getenv = os.Getenv
	}
	if d.UID == nil {
		d.UID = os.Geteuid
	}
	if d.Hold == nil {
		d.Hold = HoldWindow
	}
	return d
}
