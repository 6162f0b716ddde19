// Package peer tells who is at the other end of a Unix socket, by the credentials that the kernel recorded when the
// connection was made. Inside a user namespace every foreign uid reads as 65534; callers must not grant that uid anything.
package peer

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// Cred is the other end: its uid, gid and pid at connect time.
type Cred struct {
	UID, GID uint32
	PID      int32
}

// Of reads the peer credentials of a connected Unix socket.
func Of(c *net.UnixConn) (Cred, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return Cred{}, fmt.Errorf("cannot read peer credentials: %w", err)
	}
	var cred *unix.Ucred
	var inner error
	if err := raw.Control(func(fd uintptr) {
		cred, inner = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		inner = err
	}
	if inner != nil {
		return Cred{}, fmt.Errorf("cannot read peer credentials: %w", inner)
	}
	return Cred{UID: cred.Uid, GID: cred.Gid, PID: cred.Pid}, nil
}
