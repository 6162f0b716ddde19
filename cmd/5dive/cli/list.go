package cli

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/5dive/browser/serve/api"
)

func listVerb() verb {
	return verb{
		name: "ls", short: "list the profiles: state, last seen alive, served or not, viewer open or not",
		long:    "It reads what was stamped last and looks at no site.",
		example: "ls --json",
		flags:   []flag{seatFlag(), jsonFlag()},
		run:     runList,
	}
}

func runList(c *call) error {
	r, err := profiles(c, "")
	if err != nil {
		return err
	}
	rows := [][]string{{"SITE", "STATE", "LAST SEEN", "BROWSER", "VIEWER"}}
	for _, p := range r.Profiles {
		rows = append(rows, []string{p.Site, stateOf(p), cmp.Or(p.LastSeen, "never"), p.Held, p.Viewer})
	}
	if err := c.answer(r, table(rows)); err != nil {
		return err
	}
	noneYet(c, r)
	return nil
}

// stateOf is the state in a table: of a bad profile, why it is bad.
func stateOf(p api.Profile) string {
	if p.Bad != nil {
		return "BAD: " + p.Bad.Message
	}
	return p.State
}

func noneYet(c *call, r api.ListResult) {
	if len(r.Profiles) == 0 {
		c.story.say("no profile yet; the first: %s auth SITE", program)
	}
}

// profiles asks for the list, or for one site of it; an empty one is never null in JSON.
func profiles(c *call, site string) (api.ListResult, error) {
	r := api.ListResult{}
	err := c.ask(api.PathList, api.ListRequest{Site: site}, &r)
	if r.Profiles == nil {
		r.Profiles = []api.Profile{}
	}
	return r, err
}

// table puts rows in columns two blanks apart.
func table(rows [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = oneLine(cell)
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	w.Flush()
	return b.String()
}
