package display

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/5dive/browser/internal/fault"
)

// Server is the kind of a VNC server.
type Server string

// The kinds, the default first. TigerVNC answers updates without a round trip each and is twice as fast; x11vnc is the
// one that the seed names.
const (
	TigerVNC Server = "tigervnc"
	X11VNC   Server = "x11vnc"
)

var serverPrograms = map[Server]string{TigerVNC: "X0tigervnc", X11VNC: "x11vnc"}

// Servers lists the kinds that are installed, the default first.
func Servers() []Server {
	var found []Server
	for _, s := range []Server{TigerVNC, X11VNC} {
		if _, err := program(serverPrograms[s]); err == nil {
			found = append(found, s)
		}
	}
	return found
}

// VNC is a running VNC server: RFB 3.8, security type None, on a 0600 Unix socket. It passes the picture and the pointer;
// keys and clipboard are switched off, they go by Input. The caller carries one connection at a time; when that one has
// closed the next one is served.
type VNC struct {
	socket string
	done   chan struct{}
	once   sync.Once
	stop   func()
}

// StartVNC starts a server and returns when its socket listens. The display has one at a time: an older one that ended
// is replaced, one that runs is fault.Busy. Close it, or the display.
func (d *Display) StartVNC(ctx context.Context, kind Server) (*VNC, error) {
	name, ok := serverPrograms[kind]
	if !ok {
		return nil, fault.New(fault.Config, "cannot start the VNC server %q: want %s or %s", kind, TigerVNC, X11VNC)
	}
	path, err := program(name)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fault.New(fault.Failed, "cannot start the VNC server: the display is closed")
	}
	if d.vnc != nil && !d.vnc.ended() {
		return nil, fault.New(fault.Busy, "cannot start the VNC server: one is running on this display")
	}
	d.served++
	socket := filepath.Join(d.config.Scratch, fmt.Sprintf("vnc-%d", d.served))
	if len(socket) > maxSocketPath {
		return nil, fault.New(fault.Config, "cannot start the VNC server: the path %s is longer than %d bytes", socket, maxSocketPath)
	}
	os.Remove(socket) // of an earlier display in the same directory, killed
	start := d.startTiger
	if kind == X11VNC {
		start = d.startX11VNC
	}
	d.vnc, err = start(ctx, path, socket)
	return d.vnc, err
}

// maxSocketPath is the longest path of a Unix socket (unix(7)), less its final zero.
const maxSocketPath = 107

// Socket is the path of the server's Unix socket.
func (v *VNC) Socket() string { return v.socket }

// Done is closed when the server has ended.
func (v *VNC) Done() <-chan struct{} { return v.done }

// Close ends the server and every connection to it, and waits. It may be called more than once.
func (v *VNC) Close() {
	v.once.Do(v.stop)
	<-v.done
}

func (v *VNC) ended() bool {
	select {
	case <-v.done:
		return true
	default:
		return false
	}
}
