package bridge

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// unsent bounds what waits in the kernel for a slow client: without it the send buffer of a TCP connection grows to
	// megabytes, and the client sees an ever older picture (case V05).
	unsent = 64 << 10
	// unacked ends a connection whose peer has vanished; the kernel's own limit is about 15 minutes (case V04).
	unacked = 60 * time.Second
)

// Tune sets what a view needs on a TCP connection, and bounds what waits in a Unix socket; on any other it does nothing. Whoever carries a view over TCP, the
// relay too, calls it once. Errors are ignored: each setting is an improvement, none a condition.
func Tune(conn net.Conn) {
	if local, ok := conn.(*net.UnixConn); ok {
		local.SetWriteBuffer(unsent)
		return
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return
	}
	tcp.SetNoDelay(true)
	tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 20 * time.Second, Interval: 10 * time.Second, Count: 4})
	raw, err := tcp.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) {
		unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(unacked.Milliseconds()))
		unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsent)
	})
}
