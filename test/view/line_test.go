package view_test

import (
	"bufio"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/5dive/browser/seat"
	"github.com/5dive/browser/test/line"
	"github.com/5dive/browser/test/person"
)

// address is the HOST:PORT of a link.
func address(t *testing.T, link string) string {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal("the link is no address") // the cause would repeat it
	}
	return u.Host
}

// afar is a person behind a line of his own. His browser keeps Host and Origin: only where it connects to is another.
func (g *rig) afar(t *testing.T) (*guest, *line.Line) {
	t.Helper()
	port := address(t, g.mint(t).Link)
	l, err := line.New(port)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	p := g.person(t, person.Config{Flags: map[string]any{"host-resolver-rules": "MAP " + port + " " + l.Addr()}})
	return p.in(t), l
}

// journal is the seat's events of one name about one view.
func (g *rig) journal(t *testing.T, name, view string) (found []seat.Event) {
	t.Helper()
	file, err := os.Open(filepath.Join(g.stage.Dir(), ".state", "events.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var e seat.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if e.Name == name && (view == "" || e.Fields["view"] == view) {
			found = append(found, e)
		}
	}
	return found
}

// lost waits until the page says that the connection is gone.
func (p *guest) lost(limit time.Duration) {
	p.t.Helper()
	p.must(p.Await("that the connection is lost", `document.querySelector("#connection").dataset.state === "lost"`, limit))
}

// works holds the view to carrying keys and the picture.
func (p *guest) works(text string) {
	p.t.Helper()
	p.focus("one")
	p.must(p.Chord(ctrl, keyA))
	p.must(p.Type(text))
	p.holds("one", text)
}

// dropped: the network goes away and comes back; so does the page, by itself, in the same view.
func dropped(desktop *guest) {
	p, l := desktop.g.afar(desktop.t)
	v := p.g.mint(p.t)
	p.enter(v.Link)
	p.visit("/type")
	p.works("before")
	l.Drop()
	p.lost(long)
	p.must(p.Connected())
	p.works("after a drop")
	l.Set(line.Shape{Hole: true})
	l.Drop()
	p.lost(long)
	p.shot("lost")
	l.Set(line.Shape{})
	p.must(p.Connected())
	p.works("after a hole")
	if n := len(p.g.journal(p.t, "viewer_redeemed", v.View)); n != 1 {
		p.t.Errorf("the link was redeemed %d times", n)
	}
	if n := len(p.g.journal(p.t, "viewer_ws_connected", v.View)); n < 3 {
		p.t.Errorf("the view was connected %d times, want 3 at least", n)
	}
}

// reload: the page comes back in the same view, with nothing to press.
func reload(p *guest) {
	p.enter(p.g.mint(p.t).Link)
	p.visit("/type")
	p.reload()
	p.works("after a reload")
}

func (p *guest) reload() {
	p.t.Helper()
	p.must(chromedp.Do(p.Context(), chromedp.Reload()))
	p.must(p.Connected())
}

// second: another tab of the same browser takes the view over, and the first one says so and can take it back.
func second(p *guest) {
	v := p.g.mint(p.t)
	p.enter(v.Link)
	p.visit("/type")
	tab, err := p.Tab(1280, 860)
	p.must(err)
	p.t.Cleanup(tab.Close)
	other := &guest{Person: tab, t: p.t, g: p.g}
	where := eval[string](p, "location.href")
	other.must(other.Visit(where))
	other.must(other.Connected())
	title, err := p.Read("#elsewhere-title", long)
	p.must(err)
	if title != "Open in another tab" {
		p.t.Errorf("the first tab says %q", title)
	}
	other.works("typed in the second")
	p.shot("elsewhere")
	p.must(p.Front())
	p.must(p.Press("#take"))
	p.must(p.Connected())
	p.works("and back in the first")
	if _, err := other.Read("#elsewhere-title", long); err != nil {
		p.t.Error(err)
	}
}
