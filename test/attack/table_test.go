package attack_test

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/5dive/browser/internal/testuser"
	"github.com/5dive/browser/test/scene"
)

// row is one row of the threat model's table of cases, by its number there. Rows that need systemd come with the units.
type row struct {
	number int
	what   string
	shown  []string                     // "PACKAGE Test": tests elsewhere, or here, that show it
	tries  []string                     // attempts of the second user (by the beginning of their names) that must have been made and refused
	here   func(t *testing.T, w *world) // shown on a seat in use; it begins and ends with no view open
	alone  func(t *testing.T)           // shown on a seat of its own
}

const (
	inDisplay = "serve/display "
	inSeat    = "seat "
	inBrowser = "browser "
	inTicket  = "viewer/ticket "
	inBridge  = "viewer/bridge "
	inRelay   = "viewer/relay "
	inLife    = "test/life "
	inAttack  = "test/attack "
)

// table is the whole of it. A control, a naive build that must fail, is named beside what it controls.
var table = []row{
	// X display
	{number: 1, what: "another user at the display, by path and abstract name",
		tries: []string{"open the display without a cookie", "open the display with a made-up cookie", "open the display by its abstract name", "open the display over TCP",
			"read the screen on", "press a key on", "list windows on", "log the keys on", "ask the server on", "admit everybody on"},
		shown: []string{inDisplay + "TestPrivate", inDisplay + "TestNaiveIsOpen"}},
	{number: 2, what: "owner and root: refused without the cookie, admitted with it", shown: []string{inDisplay + "TestPrivate"}},
	{number: 3, what: "cookie file missing, empty, closed, garbage, a link: the start fails", shown: []string{inDisplay + "TestStartFailsClosed", inDisplay + "TestBrokenAuthorityOpensXvfb"}},
	{number: 4, what: "cookie file deleted before the probe: the start fails", shown: []string{inDisplay + "TestStartFailsClosed"}},
	{number: 5, what: "abstract names squatted", shown: []string{inDisplay + "TestSquatted", inDisplay + "TestNaiveAbstractNameIsCaught"}},
	{number: 6, what: "socket paths, lock files, links and TCP ports squatted", shown: []string{inDisplay + "TestSquatted"}},
	{number: 7, what: "the abstract name of a running display: not to be bound, reached or filled",
		tries: []string{"bind the display's abstract name", "bind the display's socket path", "open the display by its abstract name", "remove the display's socket", "move the display's socket away"},
		shown: []string{inDisplay + "TestPrivate"}},
	{number: 8, what: "Xvfb killed: Chrome goes, nothing reconnects", shown: []string{inDisplay + "TestServerKilled", inLife + "TestDisplayKilled"}},
	{number: 9, what: "shared memory: no segment that others can attach, the page's colour in none", here: sharedMemory},
	{number: 10, what: "eight displays at once", shown: []string{inDisplay + "TestEightAtOnce", inLife + "TestManySites"}},
	// VNC and ports
	{number: 11, what: "no IP listener but the view's port on 127.0.0.1", tries: []string{"bind the port"}, here: onlyThePort},
	{number: 14, what: "[::1] and the name localhost lead nowhere else", here: literalAddress},
	{number: 16, what: "~/.x11vncrc opens no port", alone: x11vncFile},
	{number: 17, what: "no password in argv or environment of a VNC server", shown: []string{inAttack + "TestSecondUser"}},
	{number: 18, what: "a view that outlives its hard end; a VNC server that ignores SIGTERM", alone: hardEnd},
	{number: 19, what: "descriptors of a VNC server", alone: descriptors},
	{number: 20, what: "silent clients: 5 s, eight of one user, another user still gets in", here: silentClients,
		shown: []string{inBridge + "TestSilentClient", inBridge + "TestPending", inBridge + "TestDrip"}},
	// Chromium
	{number: 21, what: "no debugger's port; Chrome's own socket in a closed directory", here: noDebugger, shown: []string{inBrowser + "TestNoTCPListener"}},
	{number: 23, what: "no address with a path or query in a command line", here: addresses, shown: []string{inBrowser + "TestAddressStaysOutOfProc"}},
	{number: 25, what: "crashes leave no core, and no dump outside the scratch directory", shown: []string{inBrowser + "TestCrashLeavesNothingOutsideScratch", inLife + "TestChromeCrashes", inAttack + "TestSecondUser"}},
	{number: 31, what: "the supervisor killed: nothing is left", shown: []string{inLife + "TestKilled"}},
	// Store
	{number: 33, what: "a seat's directory with a wrong mode, owner, group or kind", shown: []string{inSeat + "TestAudit", inLife + "TestAuditFails"}},
	{number: 34, what: "ACLs on store, seat and profile", shown: []string{inSeat + "TestAudit", inLife + "TestAuditFails"}},
	{number: 35, what: "a group-writable ancestor", shown: []string{inSeat + "TestAudit", inLife + "TestAuditFails"}},
	{number: 36, what: "hard links and foreign links in a profile", shown: []string{inSeat + "TestAudit", inLife + "TestAuditFails"}},
	{number: 37, what: "races of a seat against root's setup, audit and removal", shown: []string{inSeat + "TestRaceAgainstRoot"}},
	{number: 38, what: "hostile names of sites and seats", here: hostileNames, shown: []string{inSeat + "TestHostileSites", inSeat + "TestSeatNames", inSeat + "TestRootNames"}},
	{number: 39, what: "a second user at the store",
		tries: []string{"list the store", "list the seat", "list the profile", "see the profile by its guessed name", "see the cookie file", "open the cookie file", "open the events",
			"open the service's log", "open the display's cookie", "enter the seat's directory", "watch the seat's directory", "make a file in the seat's directory",
			"make a seat of his own in the store", "rename the seat's directory", "open the seat's directory to all", "take the seat's directory", "link to the cookie file"},
		shown: []string{inSeat + "TestSecondUserSeesNothing"}},
	{number: 40, what: "removal of a profile with links, swapped meanwhile", shown: []string{inSeat + "TestRaceAgainstRemove", inSeat + "TestRaceAgainstPurge", inSeat + "TestPurgeHasTheSeatsRights"}},
	// Tickets
	{number: 41, what: "one ticket, many redeemers", shown: []string{inTicket + "TestTwelveProcesses", inTicket + "TestTwoHundredAtOnce", inAttack + "TestRedeemersAndKill"}},
	{number: 42, what: "the service killed in the middle of a redemption", shown: []string{inAttack + "TestRedeemersAndKill"}},
	{number: 44, what: "clocks", shown: []string{inTicket + "TestClocks"}},
	{number: 45, what: "wrong session, replay, malformed nonces: one answer, nothing started", here: wrongRedemptions, shown: []string{inTicket + "TestRefusals"}},
	{number: 47, what: "the nonce in no argv, environment, journal, log or Referer", here: noReferer, shown: []string{inAttack + "TestSecondUser"}},
	// Web
	{number: 48, what: "Origin and Host", here: originAndHost, shown: []string{inRelay + "TestHostAndOrigin", inBridge + "TestHostAndOrigin"}},
	{number: 49, what: "pages of another site in a real Chromium; a rebound name", here: evilPage},
	{number: 50, what: "looking at a link spends nothing; headers of every answer", here: lookers, shown: []string{inRelay + "TestLookingChangesNothing"}},
	{number: 51, what: "malformed frames", here: badFrames, shown: []string{inBridge + "TestEnds", inBridge + "TestCutAnywhere", inBridge + "FuzzParser"}},
	{number: 52, what: "from the link to the picture, and nothing left", here: endToEnd},
}

// wanted are the rows that the product has to show without systemd.
var wanted = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14, 16, 17, 18, 19, 20, 21, 23, 25, 31, 33, 34, 35, 36, 38, 39, 40, 41, 42, 44, 45, 47, 48, 49, 50, 51, 52}

func TestTable(t *testing.T) {
	t.Run("complete", complete)
	w := newWorld(t, "")
	results := attempts(t, w)
	for _, r := range table {
		t.Run(fmt.Sprintf("%02d", r.number), func(t *testing.T) {
			t.Log(r.what)
			refused(t, results, r.tries)
			if r.here != nil {
				r.here(t, w.in(t))
			}
			if r.alone != nil {
				r.alone(t)
			}
		})
	}
}

// in is the world for a part of the test.
func (w *world) in(t *testing.T) *world {
	part := *w
	part.Scene = w.In(t)
	return &part
}

// complete holds the table to its rows, and each test that it names to being there.
func complete(t *testing.T) {
	packages := []string{}
	for _, number := range wanted {
		if n := len(slices.DeleteFunc(slices.Clone(table), func(r row) bool { return r.number != number })); n != 1 {
			t.Errorf("row %d stands there %d times", number, n)
		}
	}
	for _, r := range table {
		if len(r.shown)+len(r.tries) == 0 && r.here == nil && r.alone == nil {
			t.Errorf("row %d is shown by nothing", r.number)
		}
		for _, name := range r.shown {
			p, _, _ := strings.Cut(name, " ")
			if !slices.Contains(packages, p) {
				packages = append(packages, p)
			}
		}
	}
	there := map[string]bool{}
	for _, p := range packages {
		out, err := exec.Command("go", "test", "-list", ".", "github.com/5dive/browser/"+p).CombinedOutput()
		if err != nil {
			t.Fatalf("cannot list the tests of %s: %v: %s", p, err, out)
		}
		for line := range strings.Lines(string(out)) {
			there[p+" "+strings.TrimSpace(line)] = true
		}
	}
	for _, r := range table {
		for _, name := range r.shown {
			if !there[name] {
				t.Errorf("row %d names a test that is not there: %s", r.number, name)
			}
		}
	}
}

// attempts has the second user try everything on an open view, once for all rows.
func attempts(t *testing.T, w *world) []result {
	t.Helper()
	w.Serve("/login")
	v := w.link("the view", w.Mint("local"))
	_, conn := w.Stream(w.enter("the view", v))
	defer conn.Close()
	all, err := intrude(testuser.Self(w.other, "role", "intrude"), aim(t, w.Scene, w.page(v), w.port))
	if err != nil {
		t.Fatal(err)
	}
	w.Must("viewer-revoke", scene.Name)
	return all
}

// refused holds attempts to having been made, and to having failed.
func refused(t *testing.T, all []result, tries []string) {
	t.Helper()
	for _, name := range tries {
		made := 0
		for _, r := range all {
			if strings.HasPrefix(r.Name, name) {
				made++
				if r.Err == "" {
					t.Errorf("the second user got in: %s", r.Name)
				}
			}
		}
		if made == 0 {
			t.Errorf("nobody tried to %s", name)
		}
	}
}
