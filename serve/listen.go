package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/peer"
	"github.com/5dive/browser/seat"
	"github.com/5dive/browser/systemd"
)

// RelayUser is the system user that the relay of a box runs as.
const RelayUser = "5dive-relay"

// Socket is where a seat's socket of a role lies when no unit made one.
func Socket(run string, role Role) string { return filepath.Join(run, string(role)+".sock") }

// maxPath is the longest path of a Unix socket (sun_path).
const maxPath = 107

// listen takes the sockets of systemd, or makes them in the seat's own run directory. release undoes it.
func (s *Service) listen(given map[string]net.Listener) (map[Role]net.Listener, func(), error) {
	if given[systemd.RoleSeat] != nil {
		s.port = &port{service: s, given: given[systemd.RolePort]}
		got := map[Role]net.Listener{RoleSeat: given[systemd.RoleSeat]}
		if l := given[systemd.RoleRelay]; l != nil {
			got[RoleRelay] = l
		}
		return got, func() {}, nil
	}
	if err := fits(s.config.Seat); err != nil {
		return nil, nil, err
	}
	run := s.config.Seat.Run()
	only, err := takeService(run)
	if err != nil {
		return nil, nil, err
	}
	s.port = &port{service: s, embedded: true}
	got := map[Role]net.Listener{}
	for _, role := range []Role{RoleSeat, RoleRelay} {
		if got[role], err = bind(Socket(run, role)); err != nil {
			only.Close()
			return nil, nil, err
		}
	}
	return got, func() { only.Close() }, nil
}

// takeService makes this process the only service of the seat.
func takeService(run string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(run, "service.lock"), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fault.New(fault.Denied, "cannot take the seat service: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, fault.New(fault.Busy, "cannot start the seat service: one runs already")
	}
	return f, nil
}

// fits refuses a store whose sockets would have too long a path: asked before anything is made in it.
func fits(s seat.Seat) error {
	longest := Socket(s.Run(), RoleRelay)
	if len(longest) > maxPath {
		return fault.New(fault.Config, "cannot use store %.40s...: its socket would have a path of %d bytes, and at most %d go", s.Root, len(longest), maxPath).
			Try("the same with a shorter FIVEDIVE_BROWSER_ROOT")
	}
	return nil
}

// bind makes a 0600 socket in a 0700 directory of ours. A path left by a killed service is replaced: the lock says that none runs.
func bind(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fault.New(fault.Denied, "cannot make socket %s: %w", path, err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fault.New(fault.Failed, "cannot make socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, fault.New(fault.Failed, "cannot close socket to others: %w", err)
	}
	return l, nil
}

// serveRoles starts one HTTP server a role.
func (s *Service) serveRoles(listeners map[Role]net.Listener) []*http.Server {
	var servers []*http.Server
	for role, l := range listeners {
		server := &http.Server{Handler: s.handler(role), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
		servers = append(servers, server)
		s.work.Go(func() {
			if err := server.Serve(&gate{Listener: l, may: s.admits(role)}); !errors.Is(err, http.ErrServerClosed) {
				s.cancel(fault.New(fault.Failed, "the %s socket broke: %w", role, err))
			}
		})
	}
	return servers
}

// gate lets in only peers whose recorded uid may call by this listener.
type gate struct {
	net.Listener
	may func(uid uint32) bool
}

func (g *gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		u, ok := c.(*net.UnixConn)
		if !ok {
			c.Close()
			continue
		}
		if cred, err := peer.Of(u); err == nil && g.may(cred.UID) {
			return c, nil
		}
		c.Close()
	}
}

// admits is the second check beside the listener. Inside a user namespace every foreign uid reads as the overflow uid; there the
// relay's listener, which only its group can open, is the check, and root and seat still read as themselves.
func (s *Service) admits(role Role) func(uint32) bool {
	own := uint32(s.config.Seat.UID)
	if role == RoleSeat {
		return func(uid uint32) bool { return uid == own || uid == 0 }
	}
	relay, known := lookup(RelayUser)
	apart := inUserNamespace()
	return func(uid uint32) bool {
		return uid == own || uid == 0 || known && uid == relay || apart && uid == overflowUID
	}
}

const overflowUID = 65534

func lookup(name string) (uint32, bool) {
	u, err := user.Lookup(name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(u.Uid, 10, 32)
	return uint32(n), err == nil
}

// inUserNamespace tells whether uids are mapped here.
func inUserNamespace() bool {
	b, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && strings.Join(strings.Fields(string(b)), " ") != "0 0 4294967295"
}

// dialSocket reaches a socket of ours.
func dialSocket(path string) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) { return (&net.Dialer{}).DialContext(ctx, "unix", path) }
}
