package cli

import (
	"cmp"
	"context"
	"time"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/serve/api"
)

func authVerb() verb {
	return verb{
		name: "auth", args: "SITE", short: "log in to a site yourself, once",
		long: "With a display a browser window opens here. Without one the browser is served on the box and a one-time link to it is\n" +
			"printed, bound to `local` unless --bind names another session. Log in, then close the window or press Done.",
		example: "auth linkedin.com",
		flags: append([]flag{
			{name: "window", short: "a window on this display, or a refusal"},
			{name: "bind", value: "SESSION", short: "the session that may open the link; `local` where absent", known: []string{"local"}},
			{name: "wait", short: "stay until the view ends, and tell how"},
		}, linkFlags()...),
		run: runAuth,
	}
}

func runAuth(c *call) error {
	if err := checkLink(c); err != nil {
		return err
	}
	link := ""
	for _, name := range []string{"bind", "ttl", "note"} {
		if c.flags.IsSet(name) {
			link = name
		}
	}
	forced, display := c.flags.Bool("window"), c.deps.Getenv("DISPLAY") != ""
	switch {
	case forced && link != "":
		return usage("--window makes no link, so --%s goes without it", link)
	case forced && c.flags.String("seat") != "":
		return usage("--window is for the seat itself, without --seat")
	case forced && !display:
		return fault.New(fault.Missing, "cannot open a window: DISPLAY is not set").Try("%s auth %s", program, c.site())
	case forced || display && link == "" && c.flags.String("seat") == "":
		return authWindow(c)
	case c.flags.Bool("json") && c.flags.Bool("wait"):
		return usage("--json answers once, so it goes without --wait")
	}
	return authLink(c)
}

// authLink makes a link; the seat service serves the site for it.
func authLink(c *call) error {
	bind := c.flags.String("bind")
	r, err := mint(c, cmp.Or(bind, "local"))
	if err != nil {
		return err
	}
	if err := showLink(c, r); err != nil {
		return err
	}
	if bind == "" {
		c.story.say("It is bound to `local`: a person at this box or over ssh. For another session: --bind=SESSION.")
	}
	if !c.flags.Bool("wait") {
		return nil
	}
	return waitView(c, r)
}

// waitView stays until the view ends. How it ended is the answer; a login that was not seen is a refusal after it.
func waitView(c *call, v api.ViewerResult) error {
	var r api.WaitResult
	err := c.ask(api.PathWait, api.WaitRequest{View: v.View}, &r)
	if c.ctx.Err() != nil {
		c.story.say("The link stays good. To end it: %s viewer-revoke %s", program, v.Site)
	}
	if err != nil {
		return err
	}
	state := cmp.Or(r.State, unprobed)
	if err := c.print(pairs("end", r.End, "state", state)); err != nil {
		return err
	}
	if r.End != "done" {
		return fault.New(fault.Failed, "the view ended without Done: %s", r.End).Try("%s auth %s", program, v.Site)
	}
	return loginFault(v.Site, state)
}

// windowAnswer is how a window on the caller's own display ended.
type windowAnswer struct {
	Site   string `json:"site"`
	State  string `json:"state"`
	Killed bool   `json:"killed"`
}

// authWindow runs Chrome here while the seat service holds the profile for it.
func authWindow(c *call) error {
	client, err := c.connect()
	if err != nil {
		return err
	}
	defer client.Close()
	hold, err := c.deps.Hold(c.ctx, client, c.site(), c.story.progress)
	if err != nil {
		return err
	}
	defer hold.Close()
	c.story.say("A browser window opens. Log in, then close the window.")
	killed, err := window{grace: saveGrace, env: c.deps.Getenv}.run(c.ctx, hold.Window(), hold.Ended())
	late, freeErr := release(c.ctx, hold)
	if err := cmp.Or(err, freeErr); err != nil {
		return err
	}
	answer := windowAnswer{Site: c.site(), State: unprobed, Killed: killed || late}
	if answer.Killed {
		c.story.say("Chrome did not end by itself: a login of the last 30 seconds may be lost")
	}
	return c.answer(answer, pairs("site", answer.Site, "state", answer.State, "killed", answer.Killed))
}

// releaseWithin bounds how long an interrupted verb waits for the profile to be free.
const releaseWithin = 10 * time.Second

func release(ctx context.Context, hold Hold) (killed bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	return hold.Release(ctx)
}
