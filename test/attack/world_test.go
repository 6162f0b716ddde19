package attack_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/5dive/browser/browser"
	"github.com/5dive/browser/internal/secret"
	"github.com/5dive/browser/internal/testuser"
	"github.com/5dive/browser/serve"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/test/person"
	"github.com/5dive/browser/test/rfb"
	"github.com/5dive/browser/test/scene"
	"github.com/5dive/browser/test/site"
)

// world is a seat in real use, and a second user of the machine. The person's own browser is a third user's: it stands for another machine.
type world struct {
	*scene.Scene
	other   testuser.User
	secrets map[string]string // what -> value, as they become known
	names   []string          // what Chrome keeps by design: the name that was typed, never a password
	port    int
}

// newWorld makes a seat that uses one of the VNC servers ("" is the default).
func newWorld(t testing.TB, vnc string) *world {
	t.Helper()
	w := &world{Scene: scene.New(t), other: testuser.New(t), secrets: map[string]string{}}
	w.Site.Name, w.Site.Password = canary(), canary()
	w.names = []string{w.Site.Name}
	w.secrets["the typed password"] = w.Site.Password
	w.Must("ls") // makes the seat's directories
	if vnc != "" {
		w.Settings(`{"vnc":"` + vnc + `"}`)
	}
	return w
}

// canary is a text that occurs nowhere by chance, and that keys can type.
func canary() string { return "Kx" + secret.Random(9).Reveal() }

// link notes the secrets of a minted link.
func (w *world) link(what string, v api.ViewerResult) api.ViewerResult {
	w.secrets["the nonce of "+what] = v.Nonce
	u, err := url.Parse(v.Link)
	if err != nil {
		w.T.Fatal(err)
	}
	if w.port, err = strconv.Atoi(u.Port()); err != nil {
		w.T.Fatal(err)
	}
	return v
}

// redeem spends a link as an outside relay does and joins by its password; the connection is the caller's.
func (w *world) redeem(what, nonce string) (api.RedeemResult, *rfb.Client, net.Conn) {
	w.T.Helper()
	out, err := w.Stage.VerbWith(scene.Limit(w.T, time.Minute), nonce+"\n", "viewer-redeem", scene.Name, "--nonce=-", "--session=local")
	if err != nil {
		w.T.Fatal(err)
	}
	var r api.RedeemResult
	for _, pair := range strings.Fields(out) {
		switch name, value, _ := strings.Cut(pair, "="); name {
		case "target":
			r.Target = value
		case "password":
			r.Password = value
		}
	}
	if r.Password == "" {
		w.T.Fatalf("redeemed, but there is no password in %d bytes of answer", len(out))
	}
	w.secrets["the VNC password of "+what] = r.Password
	c, err := net.Dial("tcp4", r.Target)
	if err != nil {
		w.T.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(2 * time.Minute))
	ws, _, err := rfb.DialWebsocket(c, "http://"+r.Target+"/", nil)
	if err != nil {
		w.T.Fatal(err)
	}
	client, err := rfb.Join(ws, r.Password)
	if err != nil {
		w.T.Fatalf("cannot join with the password: %v", err)
	}
	return r, client, c
}

// enter spends a link as our own relay does, and notes the view's token.
func (w *world) enter(what string, v api.ViewerResult) secret.Text {
	w.T.Helper()
	token := w.Enter(v)
	w.secrets["the token of "+what] = token.Reveal()
	return token
}

// text sends text into the page, as the box of the page does.
func (w *world) text(token secret.Text, text string) {
	w.T.Helper()
	var r api.TextResult
	err := w.Client(serve.RoleRelay).CallView(scene.Limit(w.T, time.Minute), api.PathText, token.Reveal(), api.TextRequest{Text: text}, &r, nil)
	if err != nil {
		w.T.Fatal(err)
	}
}

// outsider is a first look at the page by way of an outside relay, with keys that are secret too, ended by viewer-revoke.
func (w *world) outsider() {
	w.T.Helper()
	v := w.link("the first view", w.Mint("local"))
	_, client, conn := w.redeem("the first view", v.Nonce)
	defer conn.Close()
	if err := client.Update(); err != nil {
		w.T.Fatal(err)
	}
	w.Must("viewer-revoke", scene.Name)
}

// sender is a second look, in which a text is sent.
func (w *world) sender() {
	w.T.Helper()
	v := w.link("the second view", w.Mint("local"))
	token := w.enter("the second view", v)
	_, conn := w.Stream(token)
	defer conn.Close()
	sent := canary() + "é€中"
	w.secrets["the sent text"] = sent
	w.text(token, sent)
	if err := w.Client(serve.RoleRelay).CallView(scene.Limit(w.T, time.Minute), api.PathCancel, token.Reveal(), struct{}{}, nil, nil); err != nil {
		w.T.Fatal(err)
	}
}

// visitor opens a link in a real browser and presses the button.
func (w *world) visitor(v api.ViewerResult) *person.Person {
	w.T.Helper()
	chrome, err := browser.Find("")
	if err != nil {
		w.T.Fatal(err)
	}
	u := testuser.New(w.T)
	p, err := person.New(context.Background(), person.Config{Binary: chrome.Path, Home: u.Home, UID: u.UID, GID: u.GID, Width: 1280, Height: 860})
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(p.Close)
	for _, step := range []func() error{func() error { return p.Visit(v.Link) }, func() error { return p.Press("#enter") }, p.Connected} {
		if err := step(); err != nil {
			w.T.Fatal(err)
		}
	}
	return p
}

// typed is the visitor's login up to the password, whose field has it while the attacks run.
func (w *world) typed(p *person.Person) {
	w.T.Helper()
	if err := p.Type(w.Site.Name + "\t" + w.Site.Password); err != nil {
		w.T.Fatal(err)
	}
}

// signs presses Enter and Done, and holds the site to having seen the login.
func (w *world) signs(p *person.Person) {
	w.T.Helper()
	w.Site.Forget()
	if err := p.Type("\r"); err != nil {
		w.T.Fatal(err)
	}
	l, err := w.Site.WaitLogin(scene.Limit(w.T, time.Minute), func(site.Login) bool { return true })
	if err != nil || !l.Right {
		w.T.Fatalf("the site saw no right login: %v, right %t", err, l.Right)
	}
	w.Account(true)
	if err := p.Press("#done"); err != nil {
		w.T.Fatal(err)
	}
	if _, err := p.Read("#ended-state", time.Minute); err != nil {
		w.T.Fatal(err)
	}
}

// page is the path of a view's page.
func (w *world) page(v api.ViewerResult) string { return fmt.Sprintf("/v/%s/%s", w.Stage.User, v.View) }
