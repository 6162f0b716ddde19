package view_test

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/5dive/browser/test/person"
)

// A box that has x11vnc alone: nobody asked for a server, X0tigervnc is not there, and a person can do the same.
func TestOnlyX11vnc(t *testing.T) {
	tiger, err := exec.LookPath("X0tigervnc")
	if err != nil {
		t.Fatal(err)
	}
	g := newRig(t, "")
	g.server = "x11vnc" // what mint expects; the settings name none
	service, ok := g.stage.Service()
	if !ok {
		t.Fatal("no service")
	}
	if err := kill(service); err != nil {
		t.Fatal(err)
	}
	if err := g.stage.Gone(soon(t)); err != nil {
		t.Fatal(err)
	}
	// The first verb starts the service, so that all of the seat lives in this mount namespace, in which the program cannot be run.
	serve := g.stage.Command(soon(t), "unshare", "--mount", "/bin/sh", "-c", fmt.Sprintf(
		`mount --bind /dev/null %s && exec setpriv --reuid=%d --regid=%d --clear-groups %s browser serve %s --url=%s/type`,
		tiger, g.stage.UID, g.stage.GID, product, profile, g.origin))
	serve.SysProcAttr = nil // root makes the namespace, setpriv leaves root
	if out, err := serve.CombinedOutput(); err != nil {
		t.Fatalf("serve: %v\n%s", err, out)
	}
	p := g.person(t, person.Config{}).in(t)
	p.enter(g.mint(t).Link)
	p.settled("/type")
	p.works("by x11vnc alone")
}
