package cli

import "github.com/5dive/browser/serve/api"

func revokeVerb() verb {
	return verb{
		name: "viewer-revoke", args: "SITE", short: "end the view and its link, keep the login",
		example: "viewer-revoke linkedin.com",
		flags:   []flag{seatFlag(), jsonFlag()},
		run:     runRevoke,
	}
}

func runRevoke(c *call) error {
	var r api.RevokeResult
	if err := c.ask(api.PathRevoke, api.SiteRequest{Site: c.site()}, &r); err != nil {
		return err
	}
	return c.answer(r, pairs("site", r.Site, "revoked", r.Revoked))
}
