package cli

import (
	"strings"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/serve/api"
)

func statusVerb() verb {
	return verb{
		name: "status", args: "[SITE]", short: "tell whether each login is alive",
		long:    "This version has no probe: it opens no site, so every profile is UNKNOWN, which is exit code 0.",
		example: "status",
		flags:   []flag{seatFlag(), jsonFlag()},
		run:     runStatus,
	}
}

// unprobed is the state of a login that nobody has looked at.
const unprobed = "UNKNOWN (no probe has run)"

// statusAnswer is what status knows.
type statusAnswer struct {
	Seat     string        `json:"seat"`
	Profiles []statusState `json:"profiles"`
}

type statusState struct {
	Site     string `json:"site"`
	State    string `json:"state"`
	LastSeen string `json:"last_seen"`

	Bad *api.Error `json:"bad,omitempty"`
}

func runStatus(c *call) error {
	list, err := profiles(c, strings.ToLower(c.site()))
	if err != nil {
		return err
	}
	answer := statusAnswer{Seat: list.Seat, Profiles: []statusState{}}
	rows := [][]string{}
	for _, p := range list.Profiles {
		if p.Bad != nil && c.site() != "" {
			return p.Bad.Fault()
		}
		if p.Bad == nil {
			p.State = unprobed // a stamp is not a look of now
		}
		answer.Profiles = append(answer.Profiles, statusState{Site: p.Site, State: p.State, LastSeen: p.LastSeen, Bad: p.Bad})
		rows = append(rows, []string{p.Site, stateOf(p)})
	}
	if err := c.answer(answer, table(rows)); err != nil {
		return err
	}
	noneYet(c, list)
	return nil
}

// loginFault is the refusal that a state of a login stands for: nil for `authenticated` and for UNKNOWN. The words are those of
// the product's own verdicts.
func loginFault(site, state string) error {
	kind := fault.Kind("")
	switch {
	case strings.HasPrefix(state, "session expired"):
		kind = fault.Expired
	case strings.HasPrefix(state, "CHALLENGE"):
		kind = fault.Challenge
	default:
		return nil
	}
	return fault.New(kind, "%s: %s", site, state).Try("%s auth %s", program, site)
}
