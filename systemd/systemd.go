// Package systemd is the one place that speaks to systemd: the sockets that it hands to a seat service. Units, timers and the journal
// come with the units themselves. It trusts PID 1 and nothing else: a descriptor without a known name is a refusal.
package systemd

import (
	"net"

	"github.com/coreos/go-systemd/v22/activation"

	"github.com/5dive/browser/internal/fault"
)

// Roles of the sockets that a seat service may be given, by FileDescriptorName=.
const (
	RoleSeat    = "seat"
	RoleRelay   = "relay"
	RoleMetrics = "metrics"
	RolePort    = "port"
)

// Listeners are the sockets that systemd bound for us, by role; empty when we were not started by a socket. The
// descriptors do not reach any child: the variables are unset and close-on-exec is set (fd 3 arrives without it).
func Listeners() (map[string]net.Listener, error) {
	named, err := activation.ListenersWithNames()
	if err != nil {
		return nil, fault.New(fault.Config, "cannot take the sockets of systemd: %w", err)
	}
	got := map[string]net.Listener{}
	for name, ls := range named {
		switch name {
		case RoleSeat, RoleRelay, RoleMetrics, RolePort:
		default:
			return nil, fault.New(fault.Config, "cannot take socket %q of systemd: no such role", name)
		}
		if len(ls) != 1 || ls[0] == nil {
			return nil, fault.New(fault.Config, "cannot take socket %q of systemd: want one stream socket, have %d", name, len(ls))
		}
		got[name] = ls[0]
	}
	return got, nil
}
