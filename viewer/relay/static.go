package relay

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/viewer/page"
)

// page serves the one page of all views: it is the same for a view that exists and one that does not, and for any seat.
func (r *Relay) page(w http.ResponseWriter, req *http.Request, _ visit) {
	send(w, req, r.files["index.html"])
}

func (r *Relay) asset(w http.ResponseWriter, req *http.Request, name string) {
	file, ok := r.files[name]
	if !ok {
		refuse(w, http.StatusNotFound, fault.New(fault.Usage, "there is nothing at this address"))
		return
	}
	if allows(w, req, http.MethodGet) {
		send(w, req, file)
	}
}

// send writes a file, compressed where the browser takes it. The files hold no secret, so that compressing tells none.
func send(w http.ResponseWriter, req *http.Request, file page.File) {
	h, body := w.Header(), file.Body
	h.Set("Content-Type", file.Type)
	h.Set("Vary", "Accept-Encoding")
	if file.Gzip != nil && strings.Contains(req.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = file.Gzip
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if req.Method != http.MethodHead {
		w.Write(body) // an error is the browser's: it went away
	}
}
