package site

import (
	"context"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func person(t *testing.T) (*Site, string, *http.Client) {
	t.Helper()
	s := New(Config{})
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	jar, _ := cookiejar.New(nil)
	return s, server.URL, &http.Client{Jar: jar}
}

func TestLogin(t *testing.T) {
	for _, test := range []struct {
		name, password string
		keep           bool
		ends           string
		session, kept  bool
	}{
		{"mira", "harbour-lantern-42", true, "/account", true, true},
		{"mira", "harbour-lantern-42", false, "/account", true, false},
		{"mira", "wrong", true, "/login", false, false},
	} {
		s, address, client := person(t)
		form := url.Values{"name": {test.name}, "password": {test.password}}
		if test.keep {
			form.Set("keep", "on")
		}
		answer, err := client.PostForm(address+"/login", form)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		last := s.Requests()[len(s.Requests())-1]
		if answer.Request.URL.Path != test.ends || last.Session != test.session || last.Kept != test.kept {
			t.Errorf("%+v ended at %s with %+v", test, answer.Request.URL, last)
		}
		login := s.Logins()[0]
		if login.Right != test.session || login.Keep != test.keep || login.Typed.Reveal() != test.password {
			t.Errorf("login is logged as %+v", login)
		}
	}
}

func TestEveryPageAnswers(t *testing.T) {
	s, address, client := person(t)
	for path := range pageNames {
		if path == "/colour" {
			path += "?c=12aBef"
		}
		answer, err := client.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s answers %s", path, answer.Status)
		}
	}
	if len(s.Pages()) < len(pageNames) {
		t.Errorf("%d pages are logged, want at least %d", len(s.Pages()), len(pageNames))
	}
}

func TestReportsWakeTheWaiting(t *testing.T) {
	s, address, client := person(t)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	seen := make(chan error, 2)
	go func() { seen <- s.WaitField(ctx, "one", "naïve 🐚") }()
	go func() { _, err := s.WaitEvent(ctx, "/busy", "key"); seen <- err }()
	body := `[{"page":"/type","kind":"field","detail":{"name":"one","value":"naïve 🐚"}},{"page":"/busy","kind":"key","at":1.5,"detail":{"key":"a"}}]`
	answer, err := client.Post(address+"/report", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	for range 2 {
		if err := <-seen; err != nil {
			t.Error(err)
		}
	}
	s.Forget()
	if len(s.Requests())+len(s.Events())+len(s.Fields()) != 0 {
		t.Error("the log is not empty after Forget")
	}
	late, stop := context.WithTimeout(ctx, 10*time.Millisecond)
	defer stop()
	if _, err := s.WaitEvent(late, "", "none"); err == nil {
		t.Error("a wait for what never happens returned no error")
	}
}

func TestEnterWorksOnce(t *testing.T) {
	s, address, client := person(t)
	path, _ := s.Enter(true)
	for _, want := range []string{"/account", "/login"} {
		answer, err := client.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if got := answer.Request.URL.Path; got != want {
			t.Errorf("ended at %s, want %s", got, want)
		}
		client.Jar, _ = cookiejar.New(nil)
	}
}
