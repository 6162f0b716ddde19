package cli

import "github.com/5dive/browser/serve/api"

func profileVerb() verb {
	return verb{
		name: "profile", args: "rm SITE", short: "remove a profile, and with it the login",
		long:    "Cookies, history and everything else that the browser keeps of the site are deleted; there is no way back.",
		example: "profile rm linkedin.com --yes",
		flags: []flag{
			{name: "yes", short: "do it; without it one line says what would be lost"},
			seatFlag(), jsonFlag(),
		},
		run: runProfile,
	}
}

func runProfile(c *call) error {
	request := api.SiteRequest{Site: c.flags.Args().Get(1)}
	if !c.flags.Bool("yes") {
		return usage("nothing was touched: it would delete the profile of %.80s and its login, for good", request.Site).
			Try("%s profile rm %.80s --yes", program, request.Site)
	}
	var r api.RemoveResult
	if err := c.ask(api.PathRemove, request, &r); err != nil {
		return err
	}
	return c.answer(r, pairs("site", r.Site, "removed", r.Removed))
}
