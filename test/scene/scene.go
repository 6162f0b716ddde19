package scene

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/5dive/browser/internal/secret"
	"github.com/5dive/browser/internal/testuser"
	"github.com/5dive/browser/seat"
	"github.com/5dive/browser/serve"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/test/site"
	"github.com/5dive/browser/test/stage"
)

// Name is the profile that the demo site's login is kept under; the site itself listens on loopback.
const Name = "harbour-post.example"

// Scene is one seat in front of one demo site.
type Scene struct {
	T      testing.TB
	Stage  *stage.Stage
	Site   *site.Site
	Origin string // of the site
	box    string // the directory of a box's store; "" in the embedded default

	mu      *sync.Mutex // guards clients
	clients map[serve.Role]*api.Client
}

// New makes a seat whose store is his own: the embedded default.
func New(t testing.TB) *Scene {
	t.Helper()
	st, err := stage.New(Product(t))
	if err != nil {
		t.Fatal(err)
	}
	s := &Scene{T: t, Stage: st, Site: site.New(site.Config{}), mu: &sync.Mutex{}, clients: map[serve.Role]*api.Client{}}
	server := httptest.NewServer(s.Site)
	s.Origin = server.URL
	t.Cleanup(server.Close)
	t.Cleanup(s.end)
	return s
}

// NewBox makes a seat in a store of root's, by `setup`, as on a box without its units.
func NewBox(t testing.TB) *Scene {
	t.Helper()
	return NewBoxAt(t, 0, 0)
}

// NewBoxAt is NewBox with a store whose path has that many bytes, and a seat whose name has; 0 is short.
func NewBoxAt(t testing.TB, path, name int) *Scene {
	t.Helper()
	s := New(t)
	dir, err := os.MkdirTemp("/var/lib", "fdt") // not in /tmp, whose ancestors no box may have
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s.box = dir
	s.Stage.Root = filepath.Join(dir, "s"+strings.Repeat("x", max(0, path-len(dir)-2)))
	if name > 0 {
		s.rename(name)
	}
	if out, err := s.Root(Limit(t, time.Minute), "setup", "--seat="+s.Stage.User); err != nil {
		t.Fatalf("setup: %v: %s", err, out)
	}
	return s
}

// rename gives the seat's user a name of that many bytes.
func (s *Scene) rename(length int) {
	s.T.Helper()
	long := s.Stage.User + strings.Repeat("n", max(0, length-len(s.Stage.User)))
	if out, err := exec.Command("usermod", "--login", long, s.Stage.User).CombinedOutput(); err != nil {
		s.T.Fatalf("usermod: %v: %s", err, out)
	}
	s.Stage.User = long
}

// In is the scene for a part of the test.
func (s *Scene) In(t testing.TB) *Scene {
	part := *s
	part.T = t
	return &part
}

// end ends the seat and holds the test to having left nothing behind.
func (s *Scene) end() {
	if s.T.Failed() {
		s.tell()
	}
	if err := s.Stage.End(); err != nil {
		s.T.Errorf("the end of the seat: %v", err)
	}
}

// tell shows what the seat's service said, for whoever reads the failure.
func (s *Scene) tell() {
	for _, name := range []string{"service.log", "events.ndjson"} {
		text, _ := os.ReadFile(filepath.Join(s.Stage.Dir(), ".state", name))
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		s.T.Logf("%s ends with:\n%s", name, strings.Join(lines[max(0, len(lines)-12):], "\n"))
	}
	for _, p := range Tasks(s.Stage.UID) {
		s.T.Log(p)
	}
}

// Root is a verb as root, with the seat's store.
func (s *Scene) Root(ctx context.Context, words ...string) (string, error) {
	cmd := exec.CommandContext(ctx, s.Stage.Binary, append([]string{"browser"}, words...)...)
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/nonexistent", "FIVEDIVE_BROWSER_ROOT=" + s.Stage.Root}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Must runs a verb of the seat that has to work, and gives its stdout.
func (s *Scene) Must(words ...string) string {
	s.T.Helper()
	out, err := s.Stage.Verb(Limit(s.T, 2*time.Minute), words...)
	if err != nil {
		s.T.Fatal(err)
	}
	return out
}

// Refused runs a verb of the seat that has to end with a code, and gives what it said on stderr.
func (s *Scene) Refused(code int, words ...string) string {
	s.T.Helper()
	out, err := s.Stage.Verb(Limit(s.T, 2*time.Minute), words...)
	var refused *stage.Refused
	if !errors.As(err, &refused) {
		s.T.Fatalf("%v worked, want code %d: %s %v", words, code, out, err)
	}
	if refused.Code != code {
		s.T.Errorf("%v ended with %d, want %d: %s", words, refused.Code, code, refused.Stderr)
	}
	return refused.Stderr
}

// Serve opens the browser on a page of the site ("/account"), or leaves it as it is.
func (s *Scene) Serve(path string) api.ServeResult {
	s.T.Helper()
	r, err := s.TryServe(path)
	if err != nil {
		s.T.Fatal(err)
	}
	return r
}

// TryServe is Serve that may fail.
func (s *Scene) TryServe(path string) (r api.ServeResult, err error) {
	err = s.Stage.JSON(Limit(s.T, 2*time.Minute), &r, "serve", Name, "--url="+s.Origin+path)
	return r, err
}

// Stop stops the browser.
func (s *Scene) Stop() api.StopResult {
	s.T.Helper()
	var r api.StopResult
	if err := s.Stage.JSON(Limit(s.T, 2*time.Minute), &r, "serve", Name, "--stop"); err != nil {
		s.T.Fatal(err)
	}
	return r
}

// SignIn opens the browser and signs in, without typing; kept asks for the persistent cookie beside that of the session.
func (s *Scene) SignIn(kept bool) {
	s.T.Helper()
	path, _ := s.Site.Enter(kept)
	s.Serve(path)
	s.Account(kept)
}

// Account waits until the browser has shown the account and fails the test unless it came with its cookies.
func (s *Scene) Account(kept bool) {
	s.T.Helper()
	ctx, r := Limit(s.T, time.Minute), s.Visit()
	if r.Path != "/account" || !r.Session || r.Kept != kept {
		s.T.Fatalf("the site saw %s with session cookie %t and persistent cookie %t; want /account, true, %t", r.Path, r.Session, r.Kept, kept)
	}
	if _, err := s.Site.WaitEvent(ctx, "/account", "load"); err != nil {
		s.T.Fatal(err)
	}
}

// Again opens the browser on the account page and asks the site whether the login is there.
func (s *Scene) Again(kept bool) {
	s.T.Helper()
	s.Site.Forget()
	s.Serve("/account")
	s.Account(kept)
}

// Kept is the login after a fault: opened, seen, and stopped in order.
func (s *Scene) Kept(kept bool) {
	s.T.Helper()
	s.Again(kept)
	if r := s.Stop(); r.Killed || r.Already {
		s.T.Errorf("the stop after the fault: %+v", r)
	}
}

// Mint makes a one-time link for a session.
func (s *Scene) Mint(bind string) api.ViewerResult {
	s.T.Helper()
	var r api.ViewerResult
	if err := s.Stage.JSON(Limit(s.T, 2*time.Minute), &r, "viewer", Name, "--bind="+bind); err != nil {
		s.T.Fatal(err)
	}
	return r
}

// Seat is the seat as the product knows it.
func (s *Scene) Seat() seat.Seat {
	return seat.Seat{Root: s.Stage.Root, Name: s.Stage.User, UID: s.Stage.UID, GID: s.Stage.GID, Embedded: s.box == ""}
}

// Client speaks to the seat's service by role, as root, which each listener lets in. It starts nothing.
func (s *Scene) Client(role serve.Role) *api.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.clients[role]
	if c == nil {
		c = serve.NewClient(s.Seat(), role)
		s.clients[role] = c
		s.T.Cleanup(func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.clients, role)
			c.Close()
		})
	}
	return c
}

// Self is the test binary in a role, as the seat's user.
func (s *Scene) Self(role string, args ...string) *exec.Cmd {
	return testuser.Self(s.AsUser(), append([]string{"role", role}, args...)...)
}

// AsUser is the seat's user.
func (s *Scene) AsUser() testuser.User {
	return testuser.User{Name: s.Stage.User, UID: s.Stage.UID, GID: s.Stage.GID, Home: s.Stage.Home()}
}

// Profile is the directory of the profile.
func (s *Scene) Profile() string { return filepath.Join(s.Stage.Dir(), Name) }

// Run is the seat's run directory.
func (s *Scene) Run() string { return filepath.Join(s.Stage.Dir(), ".run") }

// State is the seat's state directory.
func (s *Scene) State() string { return filepath.Join(s.Stage.Dir(), ".state") }

// Events are the seat's events so far, oldest first; a line that is no event ends the test.
func (s *Scene) Events() []seat.Event {
	s.T.Helper()
	text, err := os.ReadFile(filepath.Join(s.State(), "events.ndjson"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.T.Fatal(err)
	}
	var all []seat.Event
	for line := range strings.Lines(string(text)) {
		var e seat.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			s.T.Fatalf("the event %q: %v", line, err)
		}
		all = append(all, e)
	}
	return all
}

// Happened counts the events of a name.
func (s *Scene) Happened(name string) int {
	s.T.Helper()
	return len(slices.DeleteFunc(s.Events(), func(e seat.Event) bool { return e.Name != name }))
}

// Service is the pid of the seat service, which must run.
func (s *Scene) Service() int {
	s.T.Helper()
	pid, ok := s.Stage.Service()
	if !ok {
		s.T.Fatal("no seat service runs")
	}
	return pid
}

// Find is the one process of the seat that a word names: "seatd", "keeper", "Xvfb", "openbox", "X0tigervnc", "x11vnc", or "chrome", the main
// process.
func (s *Scene) Find(word string) int {
	s.T.Helper()
	found := s.All(word)
	if len(found) != 1 {
		s.T.Fatalf("%d processes %s run, want one: %v", len(found), word, found)
	}
	return found[0].PID
}

// All lists the processes that Find would choose from.
func (s *Scene) All(word string) []Task {
	return slices.DeleteFunc(Tasks(s.Stage.UID), func(p Task) bool { return p.Zombie() || !p.is(word) })
}

func (p Task) is(word string) bool {
	if len(p.Argv) == 0 {
		return false
	}
	switch word {
	case "chrome":
		return filepath.Base(p.Argv[0]) == "chromium" && !slices.ContainsFunc(p.Argv, func(a string) bool { return strings.Contains(a, "--type=") })
	case "seatd", "keeper":
		return slices.Contains(p.Argv, word)
	}
	return filepath.Base(p.Argv[0]) == word
}

// Nothing holds the seat to having no process left, zombies included.
func (s *Scene) Nothing(within time.Duration) {
	s.T.Helper()
	s.Alone(0, within)
}

// Alone holds the seat to having one process left and no other, zombies included.
func (s *Scene) Alone(pid int, within time.Duration) {
	s.T.Helper()
	others := func() []Task {
		return slices.DeleteFunc(Tasks(s.Stage.UID), func(p Task) bool { return p.PID == pid && !p.Zombie() })
	}
	if Happens(within, func() bool { return len(others()) == 0 }) {
		return
	}
	s.T.Errorf("after %v still there:", within)
	for _, p := range others() {
		s.T.Errorf("  %v", p)
	}
}

// Scratch are the scratch directories of open profiles, in the run directory or in /tmp.
func (s *Scene) Scratch() []string {
	found, _ := filepath.Glob(filepath.Join(s.Run(), "open-*"))
	far, _ := filepath.Glob("/tmp/5dive-*")
	for _, path := range far {
		var st syscall.Stat_t
		if syscall.Lstat(path, &st) == nil && int(st.Uid) == s.Stage.UID {
			found = append(found, path)
		}
	}
	return found
}

// Leftovers are the files that only an open profile, or a write under way, may have.
func (s *Scene) Leftovers() []string {
	left := s.Scratch()
	for _, pattern := range []string{".run/keeper-*.json", ".run/.tmp*", ".state/.tmp*"} {
		found, _ := filepath.Glob(filepath.Join(s.Stage.Dir(), pattern))
		left = append(left, found...)
	}
	return left
}

// Display is the number of the one display of the seat.
func (s *Scene) Display() int {
	s.T.Helper()
	var n int
	for _, p := range s.All("Xvfb") {
		if len(p.Argv) > 1 {
			fmt.Sscanf(p.Argv[1], ":%d", &n)
		}
	}
	if n == 0 {
		s.T.Fatal("no display runs")
	}
	return n
}

// Authority is the path of the display's cookie file.
func (s *Scene) Authority() string {
	s.T.Helper()
	for _, p := range s.All("Xvfb") {
		if i := slices.Index(p.Argv, "-auth"); i > 0 && i+1 < len(p.Argv) {
			return p.Argv[i+1]
		}
	}
	s.T.Fatal("no display runs with a cookie file")
	return ""
}

// Settings writes the seat's settings.json.
func (s *Scene) Settings(text string) {
	s.T.Helper()
	path := filepath.Join(s.Stage.Dir(), "settings.json")
	if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chown(path, s.Stage.UID, s.Stage.GID)); err != nil {
		s.T.Fatal(err)
	}
}

// Done is what the page's button does.
func (s *Scene) Done(token secret.Text) api.DoneResult {
	s.T.Helper()
	var r api.DoneResult
	if err := s.Client(serve.RoleRelay).CallView(Limit(s.T, 2*time.Minute), api.PathDone, token.Reveal(), struct{}{}, &r, nil); err != nil {
		s.T.Fatal(err)
	}
	return r
}

// Visit waits until the browser has opened a page of the account or the login, and gives the request.
func (s *Scene) Visit() site.Request {
	s.T.Helper()
	r, err := s.Site.WaitRequest(Limit(s.T, time.Minute), "a page", func(r site.Request) bool {
		return r.Method == "GET" && (r.Path == "/account" || r.Path == "/login")
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return r
}

// Ends ends the seat's service and everything of it, in order.
func (s *Scene) Ends() {
	s.T.Helper()
	if pid, ok := s.Stage.Service(); ok {
		Signal(s.T, pid, syscall.SIGTERM)
	}
	s.Nothing(time.Minute)
}
