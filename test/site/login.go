package site

import (
	"net/http"
	"slices"
	"time"

	"github.com/5dive/browser/internal/secret"
)

// The two cookies of a login: one without an expiry, one that lives for 30 days and is set for "keep me" only.
const (
	SessionCookie = "session"
	KeptCookie    = "kept"
)

const keptFor = 30 * 24 * time.Hour

func (s *Site) seen(r *http.Request) Request {
	entry := Request{Time: time.Now(), Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, UserAgent: r.UserAgent()}
	for _, c := range r.Cookies() {
		entry.Cookies = append(entry.Cookies, c.Name)
	}
	slices.Sort(entry.Cookies)
	entry.Session, entry.Kept = s.valid(r, SessionCookie), s.valid(r, KeptCookie)
	return entry
}

func (s *Site) valid(r *http.Request, name string) bool {
	c, err := r.Cookie(name)
	if err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[c.Value] == name
}

func (s *Site) signedIn(r *http.Request) bool {
	return s.valid(r, SessionCookie) || s.valid(r, KeptCookie)
}

func (s *Site) front(w http.ResponseWriter, r *http.Request) {
	to := "/login"
	if s.signedIn(r) {
		to = "/account"
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

func (s *Site) loginPage(w http.ResponseWriter, r *http.Request) {
	s.render(w, "login", map[string]any{"Wrong": r.URL.Query().Has("wrong")})
}

func (s *Site) login(w http.ResponseWriter, r *http.Request) {
	name, password, kept := r.PostFormValue("name"), r.PostFormValue("password"), r.PostFormValue("keep") != ""
	right := name == s.Name && password == s.Password
	if right {
		s.signIn(w, kept)
	}
	s.log.login(Login{Time: time.Now(), Name: name, Right: right, Keep: kept, Typed: secret.New(password)})
	if !right {
		http.Redirect(w, r, "/login?wrong", http.StatusSeeOther)
		return
	}
	http.Redirect(w, r, "/account", http.StatusSeeOther)
}

// Enter makes a link that signs in without typing, once, like one from a letter: its path with a query, for the browser under test.
// Its key is a secret as far as a test of leaks is concerned.
func (s *Site) Enter(kept bool) (path string, key secret.Text) {
	key = secret.Random(16)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[key.Reveal()] = kept
	return "/enter?key=" + key.Reveal(), key
}

func (s *Site) enter(w http.ResponseWriter, r *http.Request) {
	key := r.URL.Query().Get("key")
	s.mu.Lock()
	kept, known := s.keys[key]
	delete(s.keys, key)
	s.mu.Unlock()
	if known {
		s.signIn(w, kept)
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (s *Site) signIn(w http.ResponseWriter, kept bool) {
	s.setCookie(w, SessionCookie, 0)
	if kept {
		s.setCookie(w, KeptCookie, keptFor)
	}
}

func (s *Site) setCookie(w http.ResponseWriter, name string, age time.Duration) {
	value := secret.Random(16).Reveal()
	s.mu.Lock()
	s.sessions[value] = name
	s.mu.Unlock()
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: int(age.Seconds()), HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

func (s *Site) logout(w http.ResponseWriter, r *http.Request) {
	for _, name := range []string{SessionCookie, KeptCookie} {
		if c, err := r.Cookie(name); err == nil {
			s.mu.Lock()
			delete(s.sessions, c.Value)
			s.mu.Unlock()
		}
		http.SetCookie(w, &http.Cookie{Name: name, Path: "/", MaxAge: -1})
	}
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// SignOutAll ends every session on the side of the site, as a site does that logs people out after a while.
func (s *Site) SignOutAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.sessions)
}

func (s *Site) account(w http.ResponseWriter, r *http.Request) {
	if !s.signedIn(r) {
		http.Redirect(w, r, "/login", http.StatusSeeOther)
		return
	}
	s.render(w, "account", map[string]any{
		"Name": s.Name, "Session": s.valid(r, SessionCookie), "Kept": s.valid(r, KeptCookie),
	})
}
