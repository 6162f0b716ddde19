package ticket_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/5dive/browser/internal/clock"
	"github.com/5dive/browser/internal/secret"
	"github.com/5dive/browser/viewer/ticket"
)

// TestTwoHundredAtOnce: of 200 redeemers of one ticket exactly one wins, and the view is asked once. Run it with -race.
func TestTwoHundredAtOnce(t *testing.T) {
	b := ticket.New(clock.System)
	for round := range 100 {
		m := mint(t, b, request("example.com"))
		var wins, asked atomic.Int32
		gate := make(chan struct{})
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				<-gate
				alive := func() error { asked.Add(1); return nil }
				var err error
				if i%2 == 0 {
					_, err = b.Claim(m.ID, m.Nonce, "local", alive)
				} else {
					_, err = b.ClaimProfile("example.com", m.Nonce, "local", alive)
				}
				if err == nil {
					wins.Add(1)
				}
			})
		}
		close(gate)
		all.Wait()
		if wins.Load() != 1 || asked.Load() != 1 {
			t.Fatalf("round %d: %d winners, the view asked %d times", round, wins.Load(), asked.Load())
		}
		b.End(m.ID)
	}
}

// TestClaimAgainstRevokeAndMint: whatever order they come in, a voided ticket opens nothing afterwards.
func TestClaimAgainstRevokeAndMint(t *testing.T) {
	b := ticket.New(clock.System)
	for range 300 {
		m := mint(t, b, request("example.com"))
		var won, busy, voided atomic.Bool
		var all sync.WaitGroup
		all.Go(func() { _, err := b.Claim(m.ID, m.Nonce, "local", living); won.Store(err == nil) })
		all.Go(func() { _, err := b.Mint(request("example.com")); busy.Store(err != nil) })
		all.Wait()
		if won.Load() != busy.Load() {
			t.Fatalf("claim won: %v, a newer mint refused: %v", won.Load(), busy.Load())
		}
		_, ok := b.Void("example.com")
		voided.Store(ok)
		if _, err := b.Claim(m.ID, m.Nonce, "local", living); err == nil || !voided.Load() {
			t.Fatalf("after the revoke (%v): %v", ok, err)
		}
	}
}

const (
	processes = 12
	tickets   = 1500
	envSocket = "TICKET_TEST_SOCKET"
)

// TestTwelveProcesses is row 41: 12 processes redeem the same 1500 tickets through a socket, and there are 1500 wins.
func TestTwelveProcesses(t *testing.T) {
	if path := os.Getenv(envSocket); path != "" {
		redeemAll(t, path)
		return
	}
	b := ticket.New(clock.System)
	var minted [tickets]ticket.Minted
	for i := range minted {
		minted[i] = mint(t, b, request(fmt.Sprintf("site%d.example", i)))
	}
	path := filepath.Join(t.TempDir(), "redeem")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var wins [tickets]atomic.Int32
	var serving sync.WaitGroup
	serving.Go(func() { serve(l, b, &minted, &wins, &serving) })
	var children [processes]*exec.Cmd
	for i := range children {
		children[i] = exec.Command(os.Args[0], "-test.run=^TestTwelveProcesses$")
		children[i].Env = append(os.Environ(), envSocket+"="+path)
		if err := children[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range children {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	l.Close()
	serving.Wait()
	for i := range wins {
		if n := wins[i].Load(); n != 1 {
			t.Fatalf("ticket %d was redeemed %d times", i, n)
		}
	}
}

// serve answers lines "index" by redeeming that ticket for whoever asks. The nonces stay in this process: the race is
// the same and nothing secret is passed around.
func serve(l net.Listener, b *ticket.Book, minted *[tickets]ticket.Minted, wins *[tickets]atomic.Int32, serving *sync.WaitGroup) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		serving.Go(func() {
			defer c.Close()
			for lines := bufio.NewScanner(c); lines.Scan(); {
				var i int
				fmt.Sscan(lines.Text(), &i)
				m := minted[i]
				if _, err := b.Claim(m.ID, secret.New(m.Nonce.Reveal()), "local", living); err == nil {
					wins[i].Add(1)
				}
				fmt.Fprintln(c, "done")
			}
		})
	}
}

func redeemAll(t *testing.T, path string) {
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	answers := bufio.NewScanner(c)
	for i := range tickets {
		fmt.Fprintln(c, i)
		if !answers.Scan() || !strings.HasPrefix(answers.Text(), "done") {
			t.Fatalf("ticket %d: no answer", i)
		}
	}
}
