package serve

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/seat"
	"github.com/5dive/browser/serve/api"
)

// TestMintRefusesFirst: wrong words of a link start no browser, make no profile and choose no port.
func TestMintRefusesFirst(t *testing.T) {
	s, _ := stored(t)
	s.port.embedded = true
	t.Cleanup(s.port.close)
	for name, q := range map[string]api.ViewerRequest{
		"no session":    {},
		"two lines":     {Bind: "a\nb"},
		"long session":  {Bind: strings.Repeat("x", 257)},
		"note hides":    {Bind: "local", Note: "a\u200eb"},
		"long note":     {Bind: "local", Note: strings.Repeat("x", 501)},
		"short life":    {Bind: "local", TTL: 29},
		"long life":     {Bind: "local", TTL: 3601},
		"negative life": {Bind: "local", TTL: -30},
	} {
		q.Site = "new.example"
		body, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		if _, refusal := ask(s.handler(RoleSeat), http.MethodPost, api.PathViewer, string(body)); refusal == nil || refusal.Code != string(fault.Usage) {
			t.Errorf("%s: %+v", name, refusal)
		}
	}
	for _, path := range []string{s.config.Seat.Profile(seat.Site{Host: "new.example"}), s.port.path()} {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s was made: %v", path, err)
		}
	}
}
