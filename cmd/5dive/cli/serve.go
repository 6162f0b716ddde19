package cli

import (
	"regexp"

	"github.com/5dive/browser/serve/api"
)

func serveVerb() verb {
	return verb{
		name: "serve", args: "SITE", short: "open a person's browser on the box, or stop it",
		long: "Starts Chrome with a window on a display of the seat's own, and returns when the window is there. It stays open until\n" +
			"--stop; the login is kept. A browser that is open already stays as it is.",
		example: "serve linkedin.com",
		flags: []flag{
			{name: "url", value: "URL", short: "the first page; the site's own where absent"},
			{name: "size", value: "WxH", short: "of the screen in pixels; 1280x800 where absent"},
			{name: "stop", short: "end the browser and keep the profile"},
			seatFlag(), jsonFlag(),
		},
		run: runServe,
	}
}

var screenSize = regexp.MustCompile(`^[1-9][0-9]{2,4}x[1-9][0-9]{2,4}$`)

func runServe(c *call) error {
	url, size := c.flags.String("url"), c.flags.String("size")
	if c.flags.Bool("stop") {
		if url != "" || size != "" {
			return usage("--stop goes without --url and --size")
		}
		return stop(c)
	}
	if size != "" && !screenSize.MatchString(size) {
		return usage("--size wants WIDTHxHEIGHT in pixels, as in 1280x800")
	}
	var r api.ServeResult
	if err := c.ask(api.PathServe, api.ServeRequest{Site: c.site(), URL: url, Size: size}, &r); err != nil {
		if _, ok := caught(c.ctx); ok {
			c.story.say("the browser goes on; next: %s serve %s --stop ends it", program, c.site())
		}
		return err
	}
	if err := c.answer(r, pairs("site", r.Site, "state", r.State, "already", r.Already, "chrome", r.Chrome)); err != nil {
		return err
	}
	c.story.say("next: %s viewer %s --bind=SESSION gives the one-time link to it", program, r.Site)
	return nil
}

func stop(c *call) error {
	var r api.StopResult
	if err := c.ask(api.PathStop, api.SiteRequest{Site: c.site()}, &r); err != nil {
		return err
	}
	if err := c.answer(r, pairs("site", r.Site, "state", r.State, "already", r.Already, "killed", r.Killed)); err != nil {
		return err
	}
	if r.Killed {
		c.story.say("Chrome did not end by itself: a login of the last 30 seconds may be lost")
	}
	return nil
}
