package cli

import (
	"net"
	"net/url"
	"strings"

	"github.com/5dive/browser/serve/api"
)

func viewerVerb() verb {
	return verb{
		name: "viewer", args: "SITE", short: "make a one-time link to a served browser",
		long: "The link works once, for the one session that --bind names, until its time is over. A newer link for the same site voids\n" +
			"the older. The link is a secret: it goes to the person who logs in and to nobody else.",
		example: "viewer linkedin.com --bind=local",
		flags: append([]flag{
			{name: "bind", value: "SESSION", short: "the session that may open it; `local` is a person at this box or over ssh -L", need: true, known: []string{"local"}},
		}, linkFlags()...),
		run: runViewer,
	}
}

// linkFlags are those of every verb that makes a link.
func linkFlags() []flag {
	return []flag{
		{name: "ttl", value: "SECONDS", short: "until the link is void, 30 to 3600; 600 where absent", whole: true},
		{name: "note", value: "TEXT", short: "what for; the person sees it before opening"},
		seatFlag(), jsonFlag(),
	}
}

func runViewer(c *call) error {
	if err := checkLink(c); err != nil {
		return err
	}
	r, err := mint(c, c.flags.String("bind"))
	if err != nil {
		return err
	}
	return showLink(c, r)
}

// Bytes of the two texts of a link; the seat service has the last word.
const maxBind, maxNote = 256, 500

// checkLink refuses what no link can have, before anything is started for it.
func checkLink(c *call) error {
	bind, note := c.flags.String("bind"), c.flags.String("note")
	switch {
	case c.flags.IsSet("bind") && bind == "": // a script's empty variable must not mean `local`
		return usage("--bind=SESSION wants a value")
	case oneLine(bind) != bind || len(bind) > maxBind:
		return usage("--bind wants one line of at most %d bytes", maxBind)
	case oneLine(note) != note || len(note) > maxNote:
		return usage("--note wants one line of at most %d bytes", maxNote)
	}
	if ttl := c.flags.Int("ttl"); c.flags.IsSet("ttl") && (ttl < 30 || ttl > 3600) {
		return usage("--ttl wants 30 to 3600 seconds")
	}
	return nil
}

func mint(c *call, bind string) (api.ViewerResult, error) {
	var r api.ViewerResult
	err := c.ask(api.PathViewer, api.ViewerRequest{Site: c.site(), Bind: bind, TTL: c.flags.Int("ttl"), Note: c.flags.String("note")}, &r)
	return r, err
}

// showLink prints the link on stdout, and on stderr how not to waste it.
func showLink(c *call, r api.ViewerResult) error {
	if err := c.answer(r, pairs("link", r.Link, "site", r.Site, "view", r.View, "bind", r.Bind, "expires", r.Expires)); err != nil {
		return err
	}
	c.story.say("The link works once, within %d seconds, for session %s only. Do not open it to try it out.", r.Expires, r.Bind)
	c.story.say("Send it as code that no chat unfurls; the person copies it into the browser, and never back into a chat.")
	if port := loopbackPort(r.Link); port != "" {
		c.story.say("From another machine: ssh -L %[1]s:127.0.0.1:%[1]s USER@BOX there, with this same port on both sides, then the same link.", port)
	}
	return nil
}

// loopbackPort is the port of a link that opens on this machine only, or "".
func loopbackPort(link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return ""
	}
	ip := net.ParseIP(u.Hostname())
	if ip == nil && !strings.EqualFold(u.Hostname(), "localhost") || ip != nil && !ip.IsLoopback() {
		return ""
	}
	return u.Port()
}
