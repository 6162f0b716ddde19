package relay

import (
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/5dive/browser/internal/peer"
)

// Local is the session of a person on the box itself, or at the near end of `ssh -L`.
const Local = "local"

// Proxy is a reverse proxy that has signed the person in.
type Proxy struct {
	Header string // the header that names the session; it must strip that header from what people send
	UID    int    // the user it runs as
}

// Sessions makes the Session of a Config. With no proxy (nil) the only session is Local: a loopback client with a loopback
// Host and without any sign of a proxy in between. With a proxy its header counts on a connection that the proxy's user
// holds, checked by the kernel's word; that user is never Local. The server must be one that Server made.
func Sessions(proxy *Proxy) func(*http.Request) (string, bool) {
	if proxy == nil {
		return local
	}
	name := http.CanonicalHeaderKey(proxy.Header)
	return func(req *http.Request) (string, bool) {
		uid, ok := peerUID(req)
		if ok && uid == proxy.UID {
			return named(req.Header[name])
		}
		if len(req.Header[name]) > 0 {
			return "", false // somebody who claims to be the proxy
		}
		return local(req)
	}
}

// named reads the proxy's header. A proxy cannot name the local session: that is for who sits at the box.
func named(values []string) (string, bool) {
	if len(values) != 1 {
		return "", false
	}
	id := values[0]
	printable := !strings.ContainsFunc(id, func(c rune) bool { return c <= ' ' || c > '~' })
	return id, printable && id != "" && len(id) <= 256 && !strings.EqualFold(id, Local)
}

// forwarding are the headers that proxies add; X-Forwarded-* besides.
var forwarding = []string{"Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "Client-Ip", "True-Client-Ip",
	"Cf-Connecting-Ip", "Cf-Ray", "Fastly-Client-Ip", "X-Original-Host", "X-Original-Url", "X-Envoy-External-Address", "X-Proxy-User-Ip"}

// local tells whether the request comes straight from a browser on the box.
func local(req *http.Request) (string, bool) {
	host, _, err := net.SplitHostPort(req.RemoteAddr)
	if err != nil || !net.ParseIP(host).IsLoopback() {
		return "", false
	}
	if name, _, err := net.SplitHostPort(req.Host); err != nil || !slices.Contains(loopbackNames, name) {
		return "", false
	}
	for name := range req.Header {
		if strings.HasPrefix(name, "X-Forwarded") || slices.Contains(forwarding, name) {
			return "", false
		}
	}
	return Local, true
}

// peerUID is the user at the other end: of a Unix socket by its credentials, of a loopback TCP connection by the kernel's
// table. Behind a user namespace every other user reads as 65534, which is nobody's uid here.
func peerUID(req *http.Request) (int, bool) {
	uid := -1
	switch conn := connOf(req).(type) {
	case *net.UnixConn:
		if cred, err := peer.Of(conn); err == nil {
			uid = int(cred.UID)
		}
	case *net.TCPConn:
		ours, _ := conn.LocalAddr().(*net.TCPAddr)
		theirs, _ := conn.RemoteAddr().(*net.TCPAddr)
		uid = socketUID(theirs, ours)
	}
	return uid, uid >= 0 && uid != overflowUID
}

const overflowUID = 65534 // proc_sys_kernel(5), overflowuid
