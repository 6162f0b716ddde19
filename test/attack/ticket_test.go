package attack_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/serve"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/test/scene"
)

// Rows 41 and 42 on the real sockets: of 200 redeemers of one link exactly one wins, and with kill -9 of the service in their midst at most
// one; the link is void afterwards.
func TestRedeemersAndKill(t *testing.T) {
	w := newWorld(t, "")
	w.Serve("/login")
	if won := w.crowd(w.Mint("local"), 0); won != 1 {
		t.Errorf("%d of 200 redeemers won, want one", won)
	}
	w.Must("viewer-revoke", scene.Name)
	for round := range rounds {
		v := w.Mint("local")
		if won := w.crowd(v, w.Service()); won > 1 {
			t.Errorf("round %d: %d redeemers won although the service was killed meanwhile", round, won)
		}
		w.Nothing(10 * time.Second)
		w.Serve("/login")
		q := api.RedeemRequest{Site: scene.Name, Nonce: v.Nonce, Session: "local"}
		if err := w.Client(serve.RoleRelay).Call(scene.Limit(t, time.Minute), api.PathRedeem, q, nil, nil); fault.Of(err) != fault.Failed {
			t.Errorf("round %d: the link after the kill: %v", round, err)
		}
	}
}

// crowd has 200 redeem one link at once, half of them by each way, and kills a process when the first answers come, if there is one to kill.
func (w *world) crowd(v api.ViewerResult, kill int) int {
	w.T.Helper()
	ctx := scene.Limit(w.T, time.Minute)
	var won, answered atomic.Int32
	var wait sync.WaitGroup
	start, shot := make(chan struct{}), sync.OnceFunc(func() { syscall.Kill(kill, syscall.SIGKILL) })
	for i := range 200 {
		c := w.Client([]serve.Role{serve.RoleSeat, serve.RoleRelay}[i%2])
		wait.Go(func() {
			<-start
			if redeems(ctx, c, v, i%4 < 2) == nil {
				won.Add(1)
			}
			if answered.Add(1) == int32(1+i%3) && kill != 0 {
				shot()
			}
		})
	}
	close(start)
	wait.Wait()
	if kill != 0 {
		shot()
	}
	return int(won.Load())
}

func redeems(ctx context.Context, c *api.Client, v api.ViewerResult, outside bool) error {
	if outside {
		return c.Call(ctx, api.PathRedeem, api.RedeemRequest{Site: v.Site, Nonce: v.Nonce, Session: v.Bind}, &api.RedeemResult{}, nil)
	}
	return c.Call(ctx, api.PathEnter, api.EnterRequest{View: v.View, Nonce: v.Nonce, Session: v.Bind}, &api.EnterResult{}, nil)
}

// wrongRedemptions is row 45: whatever is wrong, status, kind and text are the same, and the link stays good.
func wrongRedemptions(t *testing.T, w *world) {
	w.Serve("/login")
	v := w.link("the view", w.Mint("someone"))
	servers := len(w.All("X0tigervnc"))
	n := v.Nonce
	wrong := map[string]api.RedeemRequest{
		"wrong nonce": {Nonce: strings.Repeat("0", len(n))}, "one short": {Nonce: n[1:]}, "one long": {Nonce: n + "0"}, "upper case": {Nonce: strings.ToUpper(n)},
		"a path": {Nonce: "../../etc/passwd"}, "a megabyte": {Nonce: strings.Repeat("a", 900<<10)}, "empty": {}, "blanks": {Nonce: " " + n}, "NUL": {Nonce: n + "\x00"},
		"wrong session": {Nonce: n, Session: "local"}, "no session": {Nonce: n, Session: "-"}, "session in capitals": {Nonce: n, Session: "SOMEONE"},
		"other site": {Nonce: n, Site: "example.org"},
	}
	want := ""
	for name, q := range wrong {
		if q.Site == "" {
			q.Site = scene.Name
		}
		switch q.Session {
		case "":
			q.Session = "someone"
		case "-":
			q.Session = ""
		}
		for _, role := range []serve.Role{serve.RoleSeat, serve.RoleRelay} {
			err := w.Client(role).Call(scene.Limit(t, time.Minute), api.PathRedeem, q, nil, nil)
			if err == nil || fault.Of(err) != fault.Failed {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if want == "" {
				want = err.Error()
			}
			if err.Error() != want || fault.Hint(err) != "" {
				t.Errorf("%s: %q with hint %q, others %q", name, err, fault.Hint(err), want)
			}
		}
	}
	if got := len(w.All("X0tigervnc")); got != servers {
		t.Errorf("%d VNC servers run, %d did before", got, servers)
	}
	q := api.RedeemRequest{Site: scene.Name, Nonce: n, Session: "someone"}
	var r api.RedeemResult
	if err := w.Client(serve.RoleRelay).Call(scene.Limit(t, time.Minute), api.PathRedeem, q, &r, nil); err != nil {
		t.Errorf("the link did not stay good: %v", err)
	}
	w.secrets["the VNC password of the view"] = r.Password
	if err := w.Client(serve.RoleRelay).Call(scene.Limit(t, time.Minute), api.PathRedeem, q, nil, nil); fault.Of(err) != fault.Failed {
		t.Errorf("a replay: %v", err)
	}
	w.Must("viewer-revoke", scene.Name)
}

// noReferer is row 47 where a page could tell: its headers forbid a Referer, nothing of the page is loaded from elsewhere, and the server
// never learns the nonce from an address, since it stands in the fragment.
func noReferer(t *testing.T, w *world) {
	v := w.link("the view", w.Mint("local"))
	front, nonce, ok := strings.Cut(v.Link, "#")
	if !ok || nonce != v.Nonce || strings.Contains(front, nonce) {
		t.Fatal("the nonce is not the fragment of the link")
	}
	resp, err := http.Get(front)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got := resp.Header.Get("Referrer-Policy"); got != "no-referrer" {
		t.Errorf("Referrer-Policy is %q", got)
	}
	for _, part := range []string{`src="http`, `href="http`, `src="//`, `href="//`} {
		if strings.Contains(string(page), part) {
			t.Errorf("the page loads from elsewhere: %s", part)
		}
	}
	w.Must("viewer-revoke", scene.Name)
}
