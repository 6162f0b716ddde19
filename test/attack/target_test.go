package attack_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/5dive/browser/test/scene"
)

// target is what an attacker may know of a seat in use: he guesses names, and reads the rest in /proc and /tmp.
type target struct {
	UID       int
	Dir       string            // the seat's directory
	Profile   string            // the name of the profile, guessed
	Display   int               // number of its X display
	Authority string            // path of the cookie, from the command line of Xvfb
	Sockets   map[string]string // what -> path of a Unix socket
	Abstract  []string          // names of its bound abstract sockets
	Port      int               // of the view
	View      string            // path of the view's page, "/v/SEAT/VIEW"
	PIDs      map[string]int    // what -> pid
}

// aim collects the target of a scene in use.
func aim(t testing.TB, s *scene.Scene, view string, port int) target {
	t.Helper()
	g := target{UID: s.Stage.UID, Dir: s.Stage.Dir(), Profile: scene.Name, Display: s.Display(), Port: port, View: view,
		PIDs: map[string]int{}, Sockets: map[string]string{}}
	for _, word := range []string{"seatd", "keeper", "Xvfb", "openbox", "chrome"} {
		g.PIDs[word] = s.Find(word)
	}
	for _, p := range scene.Tasks(s.Stage.UID) {
		kind := regexp.MustCompile(`--type=(\S+)`).FindStringSubmatch(strings.Join(p.Argv, " "))
		switch {
		case kind != nil:
			g.PIDs[kind[1]] = p.PID
		case strings.Contains(p.Name, "vnc"):
			g.PIDs["vnc"] = p.PID
		}
	}
	for i, a := range look(s.Find("Xvfb")) {
		if argv := look(s.Find("Xvfb")); a == "-auth" && i+1 < len(argv) {
			g.Authority = argv[i+1]
		}
	}
	g.sockets(t, s)
	return g
}

func look(pid int) []string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
}

// sockets finds every Unix socket with a name that a process of the seat holds: what the seat knows of by name, and whatever else there is.
func (g *target) sockets(t testing.TB, s *scene.Scene) {
	t.Helper()
	known := map[string]string{filepath.Join(s.Run(), "seat.sock"): "seat", filepath.Join(s.Run(), "relay.sock"): "relay"}
	for _, u := range unixSockets(t, g.held()) {
		if name, ok := strings.CutPrefix(u, "@"); ok {
			g.Abstract = append(g.Abstract, name)
			continue
		}
		what := known[u]
		switch {
		case what != "":
		case strings.HasPrefix(filepath.Base(u), "vnc"):
			what = "vnc"
		case strings.Contains(u, ".X11-unix"):
			what = "x"
		case strings.Contains(u, "Singleton"):
			what = "singleton"
		default:
			what = "other:" + u
		}
		g.Sockets[what] = u
	}
	for _, what := range []string{"seat", "relay", "vnc", "x", "singleton"} {
		if g.Sockets[what] == "" {
			t.Errorf("the seat holds no socket %s: %v", what, g.Sockets)
		}
	}
	if len(g.Abstract) == 0 {
		t.Error("the seat holds no abstract name")
	}
}

// held are the socket inodes of the seat's processes, with the pids that hold each.
func (g *target) held() map[uint64][]int {
	all := map[uint64][]int{}
	for _, p := range scene.Tasks(g.UID) {
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.PID))
		for _, link := range links {
			to, _ := os.Readlink(link)
			var inode uint64
			if n, _ := fmt.Sscanf(to, "socket:[%d]", &inode); n == 1 && !slices.Contains(all[inode], p.PID) {
				all[inode] = append(all[inode], p.PID)
			}
		}
	}
	return all
}

// unixSockets are the names of the bound sockets among inodes. A connection that a listener accepted has its name too; one name stands once.
func unixSockets(t testing.TB, inodes map[uint64][]int) []string {
	t.Helper()
	text, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 8 {
			continue
		}
		inode, _ := strconv.ParseUint(f[6], 10, 64)
		if inodes[inode] != nil && !slices.Contains(names, f[7]) {
			names = append(names, f[7])
		}
	}
	return names
}

// listener is one IP socket of the seat's processes that takes connections or datagrams.
type listener struct {
	Proto, Address string // as /proc writes it: hex address and port
	Port           int
	PIDs           []int
}

// listeners are all that the seat's processes hold, by the kernel's tables.
func (g *target) listeners(t testing.TB) []listener {
	t.Helper()
	held := g.held()
	var all []listener
	for proto, state := range map[string]string{"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07", "raw": "07", "raw6": "07"} {
		text, err := os.ReadFile("/proc/net/" + proto)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range bytes.Split(text, []byte("\n")) {
			f := strings.Fields(string(line))
			if len(f) < 10 || f[3] != state {
				continue
			}
			inode, _ := strconv.ParseUint(f[9], 10, 64)
			if pids := held[inode]; pids != nil {
				address, port, _ := strings.Cut(f[1], ":")
				n, _ := strconv.ParseInt(port, 16, 32)
				all = append(all, listener{proto, address, int(n), pids})
			}
		}
	}
	return all
}
