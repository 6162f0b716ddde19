package display

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"os"
	"time"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/peer"
)

const setupTimeout = 5 * time.Second

// greeting puts our own setup request in the place of xgb's: xgb would look for a cookie in the environment of this
// process, and offer none where it finds none.
type greeting struct {
	net.Conn
	setup []byte
}

func (g *greeting) Write(p []byte) (int, error) {
	if g.setup == nil {
		return g.Conn.Write(p)
	}
	setup := g.setup
	g.setup = nil
	if _, err := g.Conn.Write(setup); err != nil {
		return 0, err
	}
	return len(p), nil
}

// setupRequest is the first message of a client (X protocol, chapter 8), little-endian, with or without a cookie.
func setupRequest(cookie []byte) []byte {
	name := ""
	if cookie != nil {
		name = cookieName
	}
	var b bytes.Buffer
	b.Write([]byte{'l', 0})
	for _, v := range []int{11, 0, len(name), len(cookie), 0} {
		binary.Write(&b, binary.LittleEndian, uint16(v))
	}
	b.WriteString(name)
	b.Write(make([]byte, -len(name)&3))
	b.Write(cookie)
	return b.Bytes()
}

// dialServer connects to the socket file of display n and asks the kernel who listens there.
func dialServer(n, pid int) (*net.UnixConn, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Net: "unix", Name: socketPath(n)})
	if err != nil {
		return nil, fault.New(fault.Failed, "cannot reach display %d: %w", n, err)
	}
	cred, err := peer.Of(conn)
	if err == nil && int(cred.UID) == os.Geteuid() && (pid == 0 || int(cred.PID) == pid) {
		return conn, nil
	}
	conn.Close()
	if err != nil {
		return nil, err
	}
	return nil, fault.New(fault.Denied, "cannot trust display %d: its socket belongs to uid %d, pid %d", n, cred.UID, cred.PID)
}

// probeRefused makes sure that the server refuses a caller without a cookie (status 0).
func probeRefused(n, pid int) error {
	conn, err := dialServer(n, pid)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(setupTimeout))
	status := make([]byte, 1)
	if _, err := conn.Write(setupRequest(nil)); err != nil {
		return fault.New(fault.Failed, "cannot probe display %d: %w", n, err)
	}
	if _, err := io.ReadFull(conn, status); err != nil {
		return fault.New(fault.Failed, "cannot probe display %d: %w", n, err)
	}
	if status[0] != 0 {
		return fault.New(fault.Denied, "cannot trust display %d: it lets in a caller without a cookie", n)
	}
	return nil
}
