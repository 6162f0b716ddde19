package view_test

import (
	"os"
	"strings"
	"testing"

	"github.com/5dive/browser/test/person"
)

// servers are the VNC servers that everything is shown for.
func servers() []string {
	if some := os.Getenv("VIEW_SERVERS"); some != "" {
		return strings.Split(some, ",")
	}
	return []string{"tigervnc", "x11vnc"}
}

// each runs the parts for every VNC server, each server with a seat of its own and one person for all parts.
func each(t *testing.T, parts []part) {
	for _, server := range servers() {
		t.Run(server, func(t *testing.T) {
			g := newRig(t, server)
			g.serve(t, "/login")
			p := g.person(t, person.Config{})
			for _, part := range parts {
				if !t.Run(part.name, func(t *testing.T) { part.run(p.in(t)) }) {
					break // they share one browser: what comes after a failure would tell nothing
				}
			}
		})
	}
}

type part struct {
	name string
	run  func(*guest)
}

func TestView(t *testing.T) {
	each(t, []part{
		{"typing", typing},
		{"text", text},
		{"paste", paste},
		{"popup", popup},
		{"select", choose},
		{"dialogs", dialogs},
		{"phone", phone},
		{"cancel", cancel},
		{"revoke", revoke},
		{"done", done},
	})
}

// What befalls a link on its way, and the network under an open view.
func TestLink(t *testing.T) {
	each(t, []part{
		{"previewed", previewed},
		{"cut", cut},
		{"twice", twice},
		{"crowd", crowd},
	})
}

func TestNetwork(t *testing.T) {
	each(t, []part{
		{"dropped", dropped},
		{"reload", reload},
		{"second", second},
		{"slow", slow},
	})
}
