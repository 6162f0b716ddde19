package serve

import (
	"net/http"

	"github.com/5dive/browser/internal/secret"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/viewer/bridge"
)

// carry is the stream of a view on a seat's socket. Host and Origin were judged by the relay that the person's browser spoke to; here
// the listener, the peer and the token count.
func (s *Service) carry(w http.ResponseWriter, req *http.Request) {
	end, ok := s.begin()
	if !ok {
		newStream(w).fail(s.ending())
		return
	}
	defer end()
	view, err := s.views.ByToken(secret.New(req.Header.Get(api.TokenHeader)))
	if err != nil {
		newStream(w).fail(err)
		return
	}
	inner := req.Clone(req.Context())
	inner.Host = "seat"
	inner.Header.Del("Origin")
	ws, err := bridge.Upgrader{Hosts: []string{"seat"}}.Upgrade(w, inner)
	if err != nil {
		return // the upgrader has answered
	}
	if err := view.Carry(s.ctx, ws, bridge.Options{}); err != nil {
		logf("a view of %s ended: %v", view.Site, err)
	}
}
