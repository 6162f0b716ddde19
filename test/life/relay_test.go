package life_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/5dive/browser/internal/testuser"
	"github.com/5dive/browser/serve"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/test/scene"
)

// box is a seat whose sockets somebody else made, as systemd does on a box, and the relay's user.
type box struct {
	*scene.Scene
	relay testuser.User
	dir   string // of the sockets
}

// public is the address that the box's configuration names. Nobody resolves it: requests bring it as their Host.
const public = "http://box.example"

func newBox(t *testing.T) *box {
	t.Helper()
	b := &box{Scene: scene.NewBox(t), dir: serve.SocketDir}
	b.relay = relayUser(t)
	configure(t)
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b.Ends()
	seat, relay := b.socket("seat", 0o600, b.Stage.UID, b.Stage.GID), b.socket("relay", 0o660, 0, b.relay.GID)
	port, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	loopback, err := port.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	port.Close()
	b.activate(seat, relay, loopback)
	return b
}

// relayUser is the system user of the relay; one that the test made is removed after it.
func relayUser(t *testing.T) testuser.User {
	t.Helper()
	u, err := user.Lookup(serve.RelayUser)
	if err != nil {
		if out, err := exec.Command("useradd", "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin", serve.RelayUser).CombinedOutput(); err != nil {
			t.Fatalf("useradd: %v: %s", err, out)
		}
		t.Cleanup(func() {
			if out, err := exec.Command("userdel", serve.RelayUser).CombinedOutput(); err != nil {
				t.Errorf("userdel: %v: %s", err, out)
			}
		})
		if u, err = user.Lookup(serve.RelayUser); err != nil {
			t.Fatal(err)
		}
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return testuser.User{Name: u.Username, UID: uid, GID: gid, Home: "/"}
}

// configure writes the box's configuration, which must not be there.
func configure(t *testing.T) {
	t.Helper()
	dir := filepath.Dir(serve.BoxFile)
	_, had := os.Stat(dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(serve.BoxFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		t.Fatalf("this machine has a configuration of its own: %v", err)
	}
	t.Cleanup(func() {
		os.Remove(serve.BoxFile)
		if had != nil {
			os.Remove(dir)
		}
	})
	_, err = io.WriteString(f, `{"public_url":"`+public+`"}`)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// socket makes one of the seat's sockets as a unit would, and gives its descriptor.
func (b *box) socket(role string, mode os.FileMode, uid, gid int) *os.File {
	b.T.Helper()
	path := filepath.Join(b.dir, b.Stage.User+"."+role)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		b.T.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	b.T.Cleanup(func() { os.Remove(path) })
	f, err := l.File()
	l.Close()
	if err := errors.Join(err, os.Chown(path, uid, gid), os.Chmod(path, mode)); err != nil {
		b.T.Fatal(err)
	}
	return f
}

// activate starts the seat service with the sockets, by the protocol of systemd (sd_listen_fds(3)).
func (b *box) activate(files ...*os.File) {
	b.T.Helper()
	cmd := b.Stage.Command(b.T.Context(), "/bin/sh", "-c", `LISTEN_PID=$$ exec "$0" browser seatd`, b.Stage.Binary)
	cmd.Env = append(cmd.Env, "LISTEN_FDS="+strconv.Itoa(len(files)), "LISTEN_FDNAMES=seat:relay:port")
	cmd.ExtraFiles = files
	log := filepath.Join(b.Stage.Home(), "service.log")
	story, err := os.Create(log)
	if err != nil {
		b.T.Fatal(err)
	}
	cmd.Stderr = story
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if err := cmd.Start(); err != nil {
		b.T.Fatal(err)
	}
	for _, f := range files {
		f.Close()
	}
	b.T.Cleanup(func() {
		cmd.Wait()
		story.Close()
		if text, _ := os.ReadFile(log); b.T.Failed() {
			b.T.Logf("the service said:\n%s", text)
		}
	})
}

// knock is what one user finds at a socket: an error of connect, or the answer of each route.
type knock struct {
	Connect string
	Answers map[string]string // path -> code of the refusal, "" for none
	Texts   map[string]string
}

var allPaths = []string{api.PathVersion, api.PathServe, api.PathStop, api.PathList, api.PathWindow, api.PathViewer, api.PathRevoke, api.PathWait, api.PathRedeem,
	api.PathPeek, api.PathEnter, api.PathState, api.PathText, api.PathSize, api.PathDone, api.PathCancel, "/v1/nothing", "/"}

// knockRole calls every route of a socket with an empty request, and tells what came: knock SOCKET.
func knockRole(args []string) error {
	k := knock{Answers: map[string]string{}, Texts: map[string]string{}}
	for _, path := range allPaths {
		c, err := net.DialTimeout("unix", args[0], 10*time.Second)
		if err != nil {
			k.Connect = err.Error()
			break
		}
		c.SetDeadline(time.Now().Add(30 * time.Second))
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: seat\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", path)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			k.Connect = "cut: " + err.Error()
			c.Close()
			break
		}
		var line api.Line
		err = json.NewDecoder(resp.Body).Decode(&line)
		c.Close()
		if err != nil {
			k.Texts[path] = resp.Status
			k.Answers[path] = "no JSON"
			continue
		}
		if line.Error != nil {
			k.Answers[path], k.Texts[path] = line.Error.Code, line.Error.Message
		} else {
			k.Answers[path] = ""
		}
	}
	return json.NewEncoder(os.Stdout).Encode(k)
}

func (b *box) knocks(u testuser.User, role string) knock {
	b.T.Helper()
	cmd := testuser.Self(u, "role", "knock", filepath.Join(b.dir, b.Stage.User+"."+role))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		b.T.Fatal(err)
	}
	var k knock
	if err := json.Unmarshal(out, &k); err != nil {
		b.T.Fatal(err)
	}
	return k
}

// The sockets that a box passes in: the seat's own for the seat, the relay's for the relay and nothing but views.
func TestSocketsOfABox(t *testing.T) {
	b := newBox(t)
	other := testuser.New(t)
	b.Serve("/login") // the seat's verb finds the socket
	if n := len(b.All("seatd")); n != 1 {
		t.Fatalf("%d services run", n)
	}
	for who, u := range map[string]testuser.User{"the seat": b.AsUser(), "another user": other} {
		if k := b.knocks(u, "relay"); !strings.Contains(k.Connect, "permission denied") {
			t.Errorf("%s at the relay's socket: %+v", who, k)
		}
	}
	for who, u := range map[string]testuser.User{"the relay": b.relay, "another user": other} {
		if k := b.knocks(u, "seat"); !strings.Contains(k.Connect, "permission denied") {
			t.Errorf("%s at the seat's socket: %+v", who, k)
		}
	}
	k := b.knocks(b.relay, "relay")
	if k.Connect != "" {
		t.Fatalf("the relay at its socket: %s", k.Connect)
	}
	for _, path := range allPaths {
		switch path {
		case api.PathVersion:
			if k.Answers[path] != "" {
				t.Errorf("%s: %s %s", path, k.Answers[path], k.Texts[path])
			}
		case api.PathRedeem, api.PathPeek, api.PathEnter:
			if k.Answers[path] == "denied" || k.Answers[path] == "" {
				t.Errorf("%s, which the relay may call: %q %s", path, k.Answers[path], k.Texts[path])
			}
		case api.PathState, api.PathText, api.PathSize, api.PathDone, api.PathCancel:
			if k.Answers[path] != "denied" || strings.Contains(k.Texts[path], "no such call") {
				t.Errorf("%s, which needs a view's token: %q %s", path, k.Answers[path], k.Texts[path])
			}
		default:
			if k.Answers[path] != "denied" || !strings.Contains(k.Texts[path], "no such call") {
				t.Errorf("%s, which is not the relay's: %q %s", path, k.Answers[path], k.Texts[path])
			}
		}
	}
	k = b.knocks(b.AsUser(), "seat")
	if k.Connect != "" || k.Answers[api.PathList] != "" {
		t.Errorf("the seat at its own socket: %+v", k)
	}
	b.Stop()
}

// visit is one request to the relay as some user: visit ADDRESS METHOD PATH HEADER=VALUE... BODY. It prints status, cookies and body.
func visitRole(args []string) error {
	c, err := net.DialTimeout("tcp4", args[0], 10*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	text := args[1] + " " + args[2] + " HTTP/1.1\r\nHost: box.example\r\nOrigin: " + public + "\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n"
	for _, pair := range args[3:] {
		name, value, _ := strings.Cut(pair, "=")
		text += name + ": " + value + "\r\n"
	}
	if _, err := io.WriteString(c, text+"\r\n"+string(body)); err != nil {
		return err
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	fmt.Println(resp.StatusCode)
	for _, cookie := range resp.Cookies() {
		fmt.Println(cookie.Name + "=" + cookie.Value)
	}
	return nil
}

// visits makes one request as a user.
func visits(t *testing.T, u testuser.User, body string, words ...string) (status int, cookie string) {
	t.Helper()
	cmd := testuser.Self(u, append([]string{"role", "visit"}, words...)...)
	cmd.Stdin, cmd.Stderr = strings.NewReader(body), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(out))
	status, _ = strconv.Atoi(lines[0])
	if len(lines) > 1 {
		cookie = lines[1]
	}
	return status, cookie
}

// The relay as a user of its own in front of the seat: whose session a header names counts from the trusted proxy's uid alone, and the
// view that it opens is carried to the seat.
func TestRelayOfABox(t *testing.T) {
	b := newBox(t)
	proxy, other := testuser.New(t), testuser.New(t)
	address := b.runRelay(proxy.UID)
	b.Serve("/login")
	v := b.Mint("alice")
	if !strings.HasPrefix(v.Link, public+"/v/"+b.Stage.User+"/") {
		t.Fatalf("the link is %.40s", v.Link)
	}
	page := fmt.Sprintf("/v/%s/%s", b.Stage.User, v.View)
	nonce := `{"nonce":"` + v.Nonce + `"}`
	for name, row := range map[string]struct {
		who    testuser.User
		header string
		want   int
	}{
		"another user says that he is alice": {other, "X-Session=alice", 403},
		"the seat says that it is alice":     {b.AsUser(), "X-Session=alice", 403},
		"the proxy names nobody":             {proxy, "X-Other=alice", 403},
		"the proxy names another person":     {proxy, "X-Session=bob", 422},
		"the proxy names the local session":  {proxy, "X-Session=local", 403},
		"another user without a header":      {other, "X-Other=alice", 403},
	} {
		if got, cookie := visits(t, row.who, nonce, address, "POST", page+"/enter", row.header); got != row.want || cookie != "" {
			t.Errorf("%s: status %d, cookie %t; want %d", name, got, cookie != "", row.want)
		}
	}
	status, cookie := visits(t, proxy, nonce, address, "POST", page+"/enter", "X-Session=alice")
	if status != 200 || cookie == "" {
		t.Fatalf("the proxy for alice: status %d, cookie %t", status, cookie != "")
	}
	if got, _ := visits(t, proxy, "{}", address, "POST", page+"/state", "X-Session=alice", "Cookie="+cookie); got != 200 {
		t.Errorf("alice's view: status %d", got)
	}
	for name, row := range map[string]struct {
		who    testuser.User
		header string
	}{"bob with alice's cookie": {proxy, "X-Session=bob"}, "another user with it": {other, "X-Session=alice"}} {
		if got, _ := visits(t, row.who, "{}", address, "POST", page+"/state", row.header, "Cookie="+cookie); got != 403 {
			t.Errorf("%s: status %d", name, got)
		}
	}
	if got, _ := visits(t, proxy, "{}", address, "POST", page+"/done", "X-Session=alice", "Cookie="+cookie); got != 200 {
		t.Errorf("alice's Done: status %d", got)
	}
	scene.Until(t, soon, "the end of the browser", func() bool { return len(b.All("chrome")) == 0 })
}

// runRelay starts the product's relay as its user and gives its address.
func (b *box) runRelay(proxy int) string {
	b.T.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.T.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	cmd := testuser.Command(b.relay, b.Stage.Binary, "browser", "relay", "--listen="+address, "--public-url="+public, "--session-header=X-Session", "--proxy-uid="+strconv.Itoa(proxy))
	cmd.Env = append(cmd.Env, "FIVEDIVE_BROWSER_ROOT="+b.Stage.Root)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.T.Fatal(err)
	}
	b.T.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
	scene.Until(b.T, 30*time.Second, "the relay", func() bool {
		c, err := net.Dial("tcp4", address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return address
}
