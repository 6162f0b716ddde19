package relay

import (
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/5dive/browser/internal/fault"
)

// policy lets the page load its own files, speak to its own origin, and nothing else; nobody may frame it. noVNC sets styles
// by script only, which style-src 'self' allows, and shows JPEG rectangles and cursors as data: images.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// harden sets the headers of every answer, refusals included.
func harden(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), display-capture=(), usb=(), serial=(), hid=(), payment=()")
	h.Set("X-Robots-Tag", "noindex, nofollow, noarchive")
}

// host refuses a Host that is not ours: 400 for none, 421 for another. A page of a rebound name stops here.
func (r *Relay) host(w http.ResponseWriter, req *http.Request) bool {
	if req.Host == "" {
		refuse(w, http.StatusBadRequest, fault.New(fault.Usage, "the request names no host"))
		return false
	}
	if _, ok := r.origins[req.Host]; !ok {
		refuse(w, http.StatusMisdirectedRequest, fault.New(fault.Denied, "this relay does not answer for that host name"))
		return false
	}
	return true
}

// admit holds a request to the access rule of its step.
func (r *Relay) admit(w http.ResponseWriter, req *http.Request, s step, p place) (visit, bool) {
	v := visit{place: p}
	if s.access == anyone {
		return v, true
	}
	if !r.ours(w, req) || (s.method == http.MethodPost && !jsonBody(w, req)) {
		return v, false
	}
	var ok bool
	if v.session, ok = r.config.Session(req); !ok {
		refuse(w, http.StatusForbidden, fault.New(fault.Denied, "cannot tell whose browser this is: open the link where you are signed in"))
		return v, false
	}
	if s.access == session {
		return v, true
	}
	if v.token, ok = r.token(req, v); !ok {
		refuse(w, http.StatusForbidden, fault.New(fault.Denied, "this browser has no open view here"))
		return v, false
	}
	return v, true
}

// ours tells whether a page of this very origin sends the request. Origin must be there: a form or an image of another
// site has another one or none. It is compared with a list, never with Host, which a rebound name makes equal.
func (r *Relay) ours(w http.ResponseWriter, req *http.Request) bool {
	origin := req.Header.Values("Origin")
	site := req.Header.Values("Sec-Fetch-Site") // absent in old browsers and over plain http to a name
	if len(origin) != 1 || origin[0] != r.origins[req.Host] || len(site) > 1 || (len(site) == 1 && site[0] != "same-origin") {
		refuse(w, http.StatusForbidden, fault.New(fault.Denied, "the request does not come from a page of this relay"))
		return false
	}
	return true
}

// jsonBody refuses a body that a plain form of another site could send.
func jsonBody(w http.ResponseWriter, req *http.Request) bool {
	kind, _, err := mime.ParseMediaType(req.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, fault.New(fault.Usage, "the request must be application/json"))
		return false
	}
	return true
}

// parse reads /v/SEAT/VIEW[/STEP]. An escaped or doubled slash, or any character that a name cannot have, is no address.
func parse(u *url.URL) (p place, name string, ok bool) {
	parts := strings.Split(u.EscapedPath(), "/")
	if len(parts) < 4 || len(parts) > 5 || parts[0] != "" || parts[1] != "v" {
		return p, "", false
	}
	p = place{seat: parts[2], view: parts[3]}
	if len(parts) == 5 {
		if name = parts[4]; name == "" {
			return p, "", false
		}
	}
	return p, name, seatForm.MatchString(p.seat) && viewForm.MatchString(p.view)
}
