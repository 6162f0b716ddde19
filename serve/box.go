package serve

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/safefile"
	"github.com/5dive/browser/internal/strict"
	"github.com/5dive/browser/seat"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/viewer/relay"
)

// BoxFile is the configuration of a box; root writes it.
const BoxFile = "/etc/5dive-browser/config.json"

// Box is what the operator of a box set. The zero value is a box with no relay.
type Box struct {
	PublicURL string   `json:"public_url"`     // where people reach the relay
	Header    string   `json:"session_header"` // of the trusted proxy
	ProxyUID  *int     `json:"proxy_uid"`
	Listen    string   `json:"listen"`  // of the relay
	Origins   []string `json:"origins"` // that an outside relay's websocket may show
}

// LoadBox reads the configuration of the box; a missing file is the zero value.
func LoadBox() (Box, error) {
	var b Box
	data, err := safefile.Read(BoxFile, 1<<20)
	if errors.Is(err, os.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return b, fault.New(fault.Config, "cannot read the box's configuration: %w", err)
	}
	return b, strict.Decode(BoxFile, data, &b)
}

// loadBox leaves a laptop's own store alone: the box's file is the operator's word for seats of the box.
func loadBox(s seat.Seat) (Box, error) {
	if s.Embedded {
		return Box{}, nil
	}
	return LoadBox()
}

// base is the front of every link.
func (s *Service) base() (string, error) {
	if s.box.PublicURL != "" {
		return strings.TrimRight(s.box.PublicURL, "/"), nil
	}
	if !s.port.embedded {
		return "", fault.New(fault.Missing, "cannot mint a link: the box has no public_url in %s", BoxFile).
			Try(`set "public_url" in %s and start 5dive-browser-relay`, BoxFile)
	}
	if err := s.port.bound(); err != nil {
		return "", err
	}
	return "http://127.0.0.1:" + strconv.Itoa(s.port.number), nil
}

// pages are those of our own relay, for a box with none running: they speak to this service by its relay socket.
func (s *Service) pages(port int) (*relay.Relay, error) {
	n := strconv.Itoa(port)
	return relay.New(relay.Config{
		PublicURL: "http://127.0.0.1:" + n,
		Session:   relay.Sessions(nil),
		Seat: func(name string) (*api.Client, bool) {
			if name != s.config.Seat.Name {
				return nil, false
			}
			return api.NewClient(dialSocket(Socket(s.config.Seat.Run(), RoleRelay))), true
		},
	})
}

// SocketDir is where the units of a box put the sockets of its seats.
const SocketDir = "/run/5dive-browser/sock"

// Dial reaches a seat's service by role: by the socket of its unit, else by the one in the seat's own run directory.
func Dial(ctx context.Context, s seat.Seat, role Role) (net.Conn, error) {
	if !s.Embedded {
		c, err := dialSocket(filepath.Join(SocketDir, s.Name+"."+string(role)))(ctx)
		if err == nil || !errors.Is(err, os.ErrNotExist) {
			return c, err
		}
	}
	return dialSocket(Socket(s.Run(), role))(ctx)
}
