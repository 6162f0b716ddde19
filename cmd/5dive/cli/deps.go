package cli

import (
	"context"
	"io"

	"github.com/5dive/browser/serve/api"
)

// Deps is everything that the verbs ask of other packages. A nil function makes its verbs refuse with fault.Missing, except
// where its comment says otherwise. The functions are called from one goroutine.
type Deps struct {
	Version string // of this build

	// Connect reaches the service of a seat and starts it where nothing else does; "" is the caller's own seat. The verb closes
	// the client.
	Connect func(ctx context.Context, seat string) (*api.Client, error)
	// Sites lists the profiles of a seat from the store alone: it starts nothing and is quick, for completion. Nil: none.
	Sites func(ctx context.Context, seat string) ([]string, error)
	// Running tells the version of the seat service if one runs, and starts none. Nil: not known.
	Running func(ctx context.Context, seat string) (api.Version, bool)
	// Setup makes, checks or removes stores and seats; report gets one line a change.
	Setup func(ctx context.Context, s Setup, report func(string)) error
	// Settings changes the settings of a seat, "" being the caller's own, and gives them all as they then are. It works in this process
	// and starts no service.
	Settings func(ctx context.Context, seat string, c SettingsChange) ([]Setting, error)
	// Relay serves HTTP until ctx ends, and then returns nil.
	Relay func(ctx context.Context, r Relay, report func(string)) error
	// Hold takes a profile for a window on the caller's own display; HoldWindow where nil.
	Hold func(ctx context.Context, c *api.Client, site string, progress func(string)) (Hold, error)
	// Seatd and Keeper are the hidden verbs: the seat service, and the keeper of one profile's processes. They get their words
	// as they stand; ctx ends at SIGINT, SIGTERM or SIGHUP.
	Seatd  func(ctx context.Context, words []string) error
	Keeper func(ctx context.Context, words []string) error

	// The process itself: os.Stdin, os.Stdout, os.Stderr, os.Getenv and os.Geteuid where nil.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	UID            func() int
}

// Setup is what `setup` was asked for. With no seat it makes the store alone.
type Setup struct {
	Seats  []string // to make or reconcile
	Remove string   // the one seat to remove, or ""
	Purge  bool     // remove its profiles too, that is its logins
	Check  bool     // change nothing, report what would change
}

// SettingsChange is what `settings` was asked for; the zero one changes nothing.
type SettingsChange struct {
	Set   map[string]string
	Reset []string // keys that go back to the box's default
	All   bool     // every key does, before Set
}

// Setting is one setting of a seat.
type Setting struct {
	Key     string `json:"key"`
	Value   string `json:"value"`   // "" where it is the default
	Default bool   `json:"default"` // nothing is set, so the box's own way is meant
}

// Relay is what `relay` was asked for; an empty field is left to the configuration.
type Relay struct {
	Listen        string // HOST:PORT
	PublicURL     string // http or https, no query
	SessionHeader string // set by a trusted proxy
	ProxyUID      int    // of that proxy; -1 where none is named
}
