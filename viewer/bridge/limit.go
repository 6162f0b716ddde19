package bridge

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
)

// Limit caps connections whose handshake has not ended (docs/threat-model.md row 20). The cap per peer keeps one user of the
// machine from taking the places of the others. The zero value is the product's; it is safe for concurrent use.
type Limit struct {
	PerPeer int // of one uid; 8. Peers whose uid cannot be told count as one
	Total   int // of all; 64

	mu    sync.Mutex
	total int
	peers map[string]int
}

// Enter takes a place for r; ok is false if there is none, which is to be answered with 503. leave gives the place back; it may
// be called more than once. Pass it as Options.Opened and defer it too.
func (l *Limit) Enter(r *http.Request) (leave func(), ok bool) {
	return l.enter(peer(r))
}

func (l *Limit) enter(peer string) (leave func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.total >= orElse(l.Total, 64) || l.peers[peer] >= orElse(l.PerPeer, 8) {
		return nil, false
	}
	if l.peers == nil {
		l.peers = map[string]int{}
	}
	l.total++
	l.peers[peer]++
	return sync.OnceFunc(func() { l.leave(peer) }), true
}

func (l *Limit) leave(peer string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	if l.peers[peer]--; l.peers[peer] == 0 {
		delete(l.peers, peer)
	}
}

func orElse(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

// peer names who sent r by the uid of the other end of its loopback connection, or "".
func peer(r *http.Request) string {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return ""
	}
	here, errHere := netip.ParseAddrPort(local.String())
	there, errThere := netip.ParseAddrPort(r.RemoteAddr)
	if errHere != nil || errThere != nil || !here.Addr().Unmap().Is4() || !there.Addr().Unmap().Is4() {
		return "" // a Unix socket, or IPv6, on which nothing of ours listens
	}
	return owner(there, here)
}

// owner is the uid that /proc/net/tcp gives for the open socket with these ends, seen from its own side, or "". Inside a
// user namespace every foreign uid reads as 65534, so that all of them count as one.
func owner(local, remote netip.AddrPort) string {
	f, err := os.Open("/proc/net/tcp")
	if err != nil {
		return ""
	}
	defer f.Close()
	ends := row(local) + " " + row(remote)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text()) // sl local rem st queues timer retransmits uid ...
		if len(fields) > 7 && fields[1]+" "+fields[2] == ends {
			return fields[7]
		}
	}
	return ""
}

// row is how /proc/net/tcp writes an IPv4 address: the bytes as a little-endian number, in hex.
func row(a netip.AddrPort) string {
	ip := a.Addr().Unmap().As4()
	return fmt.Sprintf("%02X%02X%02X%02X:%04X", ip[3], ip[2], ip[1], ip[0], a.Port())
}
