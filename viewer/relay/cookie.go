package relay

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"strings"
	"time"
)

// A view's cookie is TOKEN.MAC, both base64url: the token that the seat service gave for the view, and an HMAC over seat,
// view, session and token. So it is good for that view only, and only while the request comes in that session: a stolen
// cookie is refused in any other.
var encoding = base64.RawURLEncoding

// cookieName has the prefix that makes a browser refuse it over http, where the public URL is https.
func (r *Relay) cookieName() string {
	if r.secure {
		return "__Secure-view"
	}
	return "view"
}

// give sets the cookie of an opened view, for as long as the view can last.
func (r *Relay) give(w http.ResponseWriter, v visit, left time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name:     r.cookieName(),
		Value:    encoding.EncodeToString([]byte(v.token)) + "." + encoding.EncodeToString(r.mac(v)),
		Path:     v.path(),
		MaxAge:   max(1, int(left/time.Second)),
		Secure:   r.secure,
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	})
}

// token reads the token of the cookie that is right for this view and session. There may be more than one: another port of
// the same host can plant cookies, and its own must not shut the person out.
func (r *Relay) token(req *http.Request, v visit) (string, bool) {
	for _, c := range req.CookiesNamed(r.cookieName()) {
		value, tag, _ := strings.Cut(c.Value, ".")
		token, err := encoding.DecodeString(value)
		if err != nil {
			continue
		}
		mac, err := encoding.DecodeString(tag)
		if err != nil {
			continue
		}
		v.token = string(token)
		if v.token != "" && hmac.Equal(mac, r.mac(v)) {
			return v.token, true
		}
	}
	return "", false
}

// mac covers each field with its length, so that no two visits make the same text.
func (r *Relay) mac(v visit) []byte {
	h := hmac.New(sha256.New, r.key)
	for _, field := range []string{v.seat, v.view, v.session, v.token} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(field)))
		h.Write(size[:])
		h.Write([]byte(field))
	}
	return h.Sum(nil)
}
