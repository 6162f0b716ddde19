package view_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/test/person"
)

// previewed: whoever looks at a link spends nothing, whether by a request or in a browser that runs scripts; the person's press works
// once, and the second use anywhere says so.
func previewed(p *guest) {
	v := p.g.mint(p.t, "--note=A letter waits")
	bare, nonce, _ := strings.Cut(v.Link, "#")
	for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
		for _, agent := range []string{"Slackbot-LinkExpanding 1.0", "WhatsApp/2.23", "facebookexternalhit/1.1", "Mozilla/5.0 (compatible; Mimecast)"} {
			for _, where := range []string{bare, bare + "/", bare + "?utm_source=mail", bare + "/enter", bare + "/peek", bare + "/stream"} {
				looks(p.t, method, where, agent, nonce)
			}
		}
	}
	scanner := p.g.person(p.t, person.Config{})
	scanner.must(scanner.Visit(v.Link))
	site, err := scanner.Read("#before-site", long)
	scanner.must(err)
	if site != profile {
		p.t.Errorf("the page asks about %q", site)
	}
	if at := eval[string](scanner, "location.href + document.title + document.referrer"); strings.Contains(at, nonce) {
		p.t.Error("the nonce stays in the address bar or in the title")
	}
	scanner.Close()
	p.row("served", "waiting")
	if n := len(p.g.journal(p.t, "viewer_ws_connected", v.View)) + len(p.g.journal(p.t, "viewer_redeemed", v.View)); n != 0 {
		p.t.Errorf("looking at the link opened the view %d times", n)
	}
	p.enter(v.Link)
	late := p.g.person(p.t, person.Config{}).in(p.t)
	late.must(late.Visit(v.Link))
	late.refused("used")
	late.shot("used")
	p.must(p.Connected())
}

// looks sends one request as a previewer does and holds the answer to giving nothing.
func looks(t *testing.T, method, where, agent, nonce string) {
	t.Helper()
	req, err := http.NewRequest(method, where, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", agent)
	req.Header.Set("Purpose", "prefetch")
	req.Header.Set("Sec-Purpose", "prefetch;prerender")
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	if len(res.Cookies()) > 0 || strings.Contains(string(body), nonce) || res.StatusCode == http.StatusSwitchingProtocols {
		t.Errorf("%s of %s gives %s, cookies %d", method, where, res.Status, len(res.Cookies()))
	}
	if res.Header.Get("Cache-Control") != "no-store" || res.Header.Get("Referrer-Policy") != "no-referrer" || res.Header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("%s of %s: headers %v", method, where, res.Header)
	}
}

// refused holds the page to saying no, in words that hold some word.
func (p *guest) refused(word string) {
	p.t.Helper()
	said, err := p.Read("#refused-text", long)
	p.must(err)
	if !strings.Contains(said, word) {
		p.t.Errorf("the page says %q, want something with %q", said, word)
	}
}

// cut: a link that a chat program spoilt opens nothing and stays good.
func cut(p *guest) {
	v := p.g.mint(p.t)
	bare, nonce, _ := strings.Cut(v.Link, "#")
	for name, link := range map[string]string{
		"trailing dot": v.Link + ".", "ampersand": v.Link + "&amp;", "missing tail": v.Link[:len(v.Link)-7], "nothing behind the hash": bare,
		"hash alone": bare + "#", "escaped": bare + "%23" + nonce, "bracket": v.Link + ")",
	} {
		p.must(p.Visit("about:blank"))
		p.must(p.Visit(link))
		if name == "escaped" {
			if n, _ := person.Evaluate[int](p.Person, `document.querySelectorAll("#enter").length`); n != 0 {
				p.t.Errorf("%s: a page to press is shown", name)
			}
			continue
		}
		said, err := p.Read("#refused-text", long)
		if err != nil {
			p.t.Errorf("%s: %v", name, err)
		}
		p.t.Logf("%s: %s", name, said)
	}
	p.shot("cut")
	p.row("served", "waiting")
	p.enter(v.Link)
}

// twice: a double click on the button and a reload right behind it do not lock the person out.
func twice(p *guest) {
	v := p.g.mint(p.t)
	p.must(p.Visit("about:blank"))
	p.must(p.Visit(v.Link))
	p.must(chromedp.Do(p.Context(), chromedp.WaitVisible(chromedp.CSS("#enter")), chromedp.DoubleClick(chromedp.CSS("#enter"))))
	p.must(p.Connected())
	for range 3 {
		p.reload()
	}
	p.must(p.Visit("about:blank"))
	p.must(p.Visit(v.Link)) // the whole link again, from the chat that it came by
	p.must(p.Connected())
	if n := len(p.g.journal(p.t, "viewer_redeemed", v.View)); n != 1 {
		p.t.Errorf("the link was redeemed %d times", n)
	}
}

// crowd: 200 press one link at once, through the relay. One gets in, and all others are told the same.
func crowd(p *guest) {
	v := p.g.mint(p.t)
	origin := "http://" + address(p.t, v.Link)
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 50, MaxIdleConnsPerHost: 50}}
	defer client.CloseIdleConnections()
	start := make(chan struct{})
	var mu sync.Mutex
	answers := map[string]int{}
	cookies := 0
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			<-start
			answer, cookie := press(p.t.Context(), client, origin, v)
			mu.Lock()
			defer mu.Unlock()
			answers[answer]++
			cookies += cookie
		})
	}
	close(start)
	all.Wait()
	if answers["200 OK"] != 1 || cookies != 1 || len(answers) != 2 {
		p.t.Errorf("of 200 redeemers: %v, %d cookies, want one winner and one text for the others", answers, cookies)
	}
	p.row("served", "open")
	p.enter(p.g.mint(p.t).Link)
}

// press is what the button does. It gives the status and, of a refusal, the body.
func press(ctx context.Context, client *http.Client, origin string, v api.ViewerResult) (answer string, cookies int) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	body, _ := json.Marshal(map[string]string{"nonce": v.Nonce})
	bare, _, _ := strings.Cut(v.Link, "#")
	req, err := http.NewRequestWithContext(ctx, "POST", bare+"/enter", strings.NewReader(string(body)))
	if err != nil {
		return "no request", 0
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", origin)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	res, err := client.Do(req)
	if err != nil {
		return err.Error(), 0
	}
	defer res.Body.Close()
	said, _ := io.ReadAll(res.Body)
	if res.StatusCode == http.StatusOK {
		return res.Status, len(res.Cookies())
	}
	return res.Status + " " + string(said), len(res.Cookies())
}
