package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/serve/api"
)

// call is one run of one verb.
type call struct {
	ctx   context.Context
	deps  Deps
	verb  verb
	words []string // as typed
	flags *urfave.Context
	story *story
}

func (c *call) site() string { return c.flags.Args().First() }

// connect reaches the seat that --seat names. The caller closes the client.
func (c *call) connect() (*api.Client, error) {
	if c.deps.Connect == nil {
		return nil, absent()
	}
	return c.deps.Connect(c.ctx, c.flags.String("seat"))
}

// ask puts one request to the seat service, its progress going to the story.
func (c *call) ask(path string, request, result any) error {
	client, err := c.connect()
	if err != nil {
		return err
	}
	defer client.Close()
	defer c.story.busy(c.verb.name)()
	return client.Call(c.ctx, path, request, result, c.story.progress)
}

// answer prints the answer of a verb: object as JSON where --json asks for it, else text.
func (c *call) answer(object any, text string) error {
	if !c.flags.Bool("json") {
		return c.print(text)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // a link has & and # in it
	if err := enc.Encode(object); err != nil {
		return fmt.Errorf("cannot encode the answer: %w", err)
	}
	return c.print(b.String())
}

// print writes to stdout in one write, so that an answer is there in full or not at all.
func (c *call) print(text string) error {
	c.story.clear()
	if _, err := c.deps.Stdout.Write([]byte(text)); err != nil {
		return fault.New(fault.Failed, "cannot write the answer to stdout: %w", err)
	}
	return nil
}

// pairs makes one key=value line of every two words.
func pairs(words ...any) string {
	var b strings.Builder
	for i := 0; i+1 < len(words); i += 2 {
		fmt.Fprintf(&b, "%s=%s\n", words[i], oneLine(fmt.Sprint(words[i+1])))
	}
	return b.String()
}
