package cli

import (
	"net"
	"net/url"
	"strconv"
	"strings"
)

func relayVerb() verb {
	return verb{
		name: "relay", short: "serve the links to people's browsers (its own user)",
		long: "An HTTP server that turns a press of the page's button into a view. It runs until it is interrupted, can do nothing on a\n" +
			"seat but redeem links and carry views, and takes what no flag names from the configuration.",
		example: "relay --listen=127.0.0.1:8080 --public-url=http://127.0.0.1:8080",
		flags: []flag{
			{name: "listen", value: "HOST:PORT", short: "where it listens"},
			{name: "public-url", value: "URL", short: "how people's browsers reach it"},
			{name: "session-header", value: "NAME", short: "the header by which a trusted proxy names the session; goes with --proxy-uid"},
			{name: "proxy-uid", value: "UID", short: "the user id of that proxy; nobody else may set the header", whole: true},
		},
		run: runRelay,
	}
}

func runRelay(c *call) error {
	r := Relay{Listen: c.flags.String("listen"), PublicURL: c.flags.String("public-url"),
		SessionHeader: c.flags.String("session-header"), ProxyUID: -1}
	if c.flags.IsSet("proxy-uid") {
		r.ProxyUID = c.flags.Int("proxy-uid")
	}
	if err := r.words(c.flags.IsSet("proxy-uid")); err != nil {
		return err
	}
	if c.deps.Relay == nil {
		return absent()
	}
	return c.deps.Relay(c.ctx, r, func(line string) { c.story.say("%s", line) })
}

// words refuses what cannot work.
func (r Relay) words(proxy bool) error {
	if r.Listen != "" {
		_, port, err := net.SplitHostPort(r.Listen)
		if n, bad := strconv.Atoi(port); err != nil || bad != nil || n < 0 || n > 65535 {
			return usage("--listen wants HOST:PORT, a port from 0 to 65535")
		}
	}
	if r.PublicURL != "" {
		u, err := url.Parse(r.PublicURL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Host != strings.ToLower(u.Host) ||
			strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
			return usage("--public-url wants http://HOST or https://HOST, in lower case and without a path")
		}
	}
	if (r.SessionHeader != "") != proxy {
		return usage("--session-header and --proxy-uid go together")
	}
	if proxy && r.ProxyUID < 0 {
		return usage("--proxy-uid wants a user id")
	}
	return nil
}
