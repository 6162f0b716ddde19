package relay

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
)

// Tables of TCP sockets, proc_net(5). They show those of our own network namespace, which is where a loopback peer is.
var tables = []string{"/proc/net/tcp", "/proc/net/tcp6"}

// socketUID is the owner of the connected socket at local whose other end is remote, or -1. The two are as that socket
// sees them. It works while the connection is open; both ends must be loopback.
func socketUID(local, remote *net.TCPAddr) int {
	if local == nil || remote == nil || !local.IP.IsLoopback() || !remote.IP.IsLoopback() {
		return -1
	}
	for _, name := range tables {
		table, err := os.Open(name)
		if err != nil {
			continue
		}
		uid := find(table, local, remote)
		table.Close()
		if uid >= 0 {
			return uid
		}
	}
	return -1
}

// find looks a pair of addresses up in one table: "sl local remote st ... uid". Only an established socket counts; a
// closed one reads as uid 0.
func find(table io.Reader, local, remote *net.TCPAddr) int {
	const established = "01"
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 8 || f[3] != established || !same(f[1], local) || !same(f[2], remote) {
			continue
		}
		if uid, err := strconv.Atoi(f[7]); err == nil {
			return uid
		}
	}
	return -1
}

// same compares an address of the table with ours. The table has 32-bit words in the machine's order, here little-endian;
// an IPv4 address is 8 digits, or mapped into 32.
func same(text string, a *net.TCPAddr) bool {
	v4, mapped := entry(a.IP.To4(), a.Port), entry(a.IP.To16(), a.Port)
	return text == mapped || (v4 != "" && text == v4)
}

func entry(ip net.IP, port int) string {
	if ip == nil {
		return ""
	}
	var s strings.Builder
	for word := 0; word < len(ip); word += 4 {
		for i := 3; i >= 0; i-- {
			fmt.Fprintf(&s, "%02X", ip[word+i])
		}
	}
	return fmt.Sprintf("%s:%04X", s.String(), port)
}
