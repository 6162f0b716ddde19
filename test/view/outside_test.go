package view_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/test/person"
	"github.com/5dive/browser/test/site"
)

// outside is a relay that is not ours: it redeems a link through the verb, knows nothing of it but target and password, and shows noVNC
// as it comes from its makers.
type outside struct {
	*httptest.Server
	mu     sync.Mutex
	target string
}

const outsidePage = `<!DOCTYPE html><meta charset="utf-8"><title>Another relay</title>
<div id="screen" style="width: 100vw; height: 100vh"></div>
<script type="module">
import RFB from "/novnc/core/rfb.js";
window.look = (password) => {
	const rfb = new RFB(document.getElementById("screen"), "ws://" + location.host + "/carry", { credentials: { password } });
	rfb.addEventListener("connect", () => { document.title = "connected"; });
	rfb.addEventListener("disconnect", () => { if (document.title === "connected") document.title = "closed"; });
	rfb.addEventListener("securityfailure", () => { document.title = "refused"; });
	rfb.scaleViewport = true;
};
</script>`

func newOutside(t *testing.T) *outside {
	t.Helper()
	modules, err := filepath.Abs("../../viewer/page/node_modules/@novnc/novnc")
	if err != nil {
		t.Fatal(err)
	}
	o := &outside{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, outsidePage)
	})
	mux.Handle("GET /novnc/", http.StripPrefix("/novnc/", http.FileServer(http.Dir(modules))))
	mux.Handle("/carry", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		o.mu.Lock()
		defer o.mu.Unlock()
		r.SetURL(&url.URL{Scheme: "http", Host: o.target})
		r.Out.Host = o.target
		r.Out.Header.Del("Origin") // it has looked at that itself
	}})
	o.Server = httptest.NewServer(mux)
	t.Cleanup(o.Close)
	return o
}

// redeem is what the relay does when its person has pressed: the nonce goes in by stdin and nowhere else.
func (o *outside) redeem(t *testing.T, g *rig, v api.ViewerResult) (password string) {
	t.Helper()
	out, err := g.stage.VerbWith(soon(t), v.Nonce+"\n", "viewer-redeem", v.Site, "--nonce=-", "--session=local")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		got[name] = value
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.target != "" && o.target != got["target"] {
		t.Errorf("the second view's target is %s, the first one's %s", got["target"], o.target)
	}
	o.target = got["target"]
	return got["password"]
}

// Two sites of one seat are watched at once through a relay that knows a target, the same for both, and a password each.
func TestOutside(t *testing.T) {
	for _, server := range servers() {
		t.Run(server, func(t *testing.T) {
			g := newRig(t, server)
			o := newOutside(t)
			type view struct {
				site   *site.Site
				guest  *guest
				pass   string
				typing string
			}
			views := []*view{{typing: "for the harbour"}, {typing: "for the lighthouse"}}
			for i, name := range []string{profile, "lighthouse.example"} {
				v := views[i]
				var origin string
				v.site, origin = newSite(t)
				other := *g
				other.site, other.origin = v.site, origin
				g.verb(t, "serve", name, "--url="+origin+"/type")
				var minted api.ViewerResult
				if err := g.stage.JSON(soon(t), &minted, "viewer", name, "--bind=local"); err != nil {
					t.Fatal(err)
				}
				v.pass = o.redeem(t, g, minted)
				v.guest = other.person(t, person.Config{}).in(t)
			}
			for _, v := range views {
				v.guest.must(v.guest.Visit(o.URL + "/"))
				v.guest.must(v.guest.Await("noVNC", `typeof window.look === "function"`, long))
				v.guest.look(v.pass, "connected")
			}
			for _, v := range views {
				v.guest.settled("/type")
				v.guest.works(v.typing)
			}
			if one, two := views[0].site.Fields()["one"], views[1].site.Fields()["one"]; one != views[0].typing || two != views[1].typing {
				t.Errorf("the sites hold %q and %q", one, two)
			}
			// Whoever knows the target alone gets nothing, and one who tries does not disturb the others.
			stranger := g.person(t, person.Config{}).in(t)
			stranger.must(stranger.Visit(o.URL + "/"))
			stranger.must(stranger.Await("noVNC", `typeof window.look === "function"`, long))
			stranger.look("12345678", "refused")
			views[0].guest.works("and still")
		})
	}
}

// look connects with a password and waits for what comes of it.
func (p *guest) look(password, want string) {
	p.t.Helper()
	eval[any](p, fmt.Sprintf("window.look(%q)", password))
	p.must(p.Await(want, `document.title === "`+want+`"`, long))
	if want == "connected" {
		p.must(p.Await("the picture", `document.querySelector("#screen canvas") !== null`, long))
	}
}

// A port that somebody else holds is a refusal that names it. No other port is taken in silence, and when it is free again the same is used.
func TestHeldPort(t *testing.T) {
	g := newRig(t, "")
	g.serve(t, "/login")
	before := address(t, g.mint(t).Link)
	g.verb(t, "serve", profile, "--stop")
	g.verb(t, "serve", profile, "--url="+g.origin+"/login")
	if service, ok := g.stage.Service(); !ok {
		t.Fatal("no service")
	} else if err := kill(service); err != nil {
		t.Fatal(err)
	}
	if err := g.stage.Gone(soon(t)); err != nil {
		t.Fatal(err)
	}
	squatter, err := net.Listen("tcp4", before)
	if err != nil {
		t.Fatal(err)
	}
	defer squatter.Close()
	caught := make(chan string, 16)
	go func() {
		for {
			c, err := squatter.Accept()
			if err != nil {
				return
			}
			caught <- c.RemoteAddr().String()
			c.Close()
		}
	}()
	g.serve(t, "/login")
	_, err = g.stage.Verb(soon(t), "viewer", profile, "--bind=local")
	if err == nil || !strings.Contains(err.Error(), "ended with 75") || !strings.Contains(err.Error(), before+" is held by another process") {
		t.Errorf("the refusal: %v", err)
	}
	if row := g.ls(t); row.Viewer != "none" {
		t.Errorf("a refused view is %s", row.Viewer)
	}
	if len(caught) > 0 {
		t.Errorf("the squatter caught %s", <-caught)
	}
	squatter.Close()
	if after := address(t, g.mint(t).Link); after != before {
		t.Errorf("the port moved from %s to %s", before, after)
	}
	if stored, err := os.ReadFile(filepath.Join(g.stage.Dir(), ".state", "port")); err != nil || !strings.HasSuffix(before, ":"+strings.TrimSpace(string(stored))) {
		t.Errorf("stored is %q (%v), used %s", stored, err, before)
	}
}
