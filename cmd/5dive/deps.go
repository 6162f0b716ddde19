package main

import (
	"cmp"
	"context"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"

	"github.com/5dive/browser/cmd/5dive/cli"
	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/seat"
	"github.com/5dive/browser/serve"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/serve/keeper"
)

// rootVariable names the store; without it the box's own is meant.
const rootVariable = "FIVEDIVE_BROWSER_ROOT"

// deps ties the verbs to the packages that do the work.
func deps() cli.Deps {
	return cli.Deps{
		Version: version(), Connect: connect, Sites: sites, Running: running, Setup: setup, Settings: settings, Relay: relayVerb,
		Seatd: seatd, Keeper: keep,
	}
}

// self is the command line of a hidden verb of this same binary.
func self(words ...string) ([]string, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fault.New(fault.Failed, "cannot find this program: %w", err)
	}
	return append([]string{exe, "browser"}, words...), nil
}

// which is the seat that a verb is about. Root becomes the seat's user for good before anything of the seat is touched.
func which(name string) (seat.Seat, error) {
	root := os.Getenv(rootVariable)
	if os.Geteuid() != 0 || name == "" {
		s, err := seat.Current(root)
		if err == nil && name != "" && name != s.Name {
			err = fault.New(fault.Denied, "cannot use seat %s: this user's seat is %s, and only root may name another", name, s.Name)
		}
		return s, err
	}
	s, err := seat.Named(root, name)
	if err != nil {
		return s, err
	}
	return s, become(s)
}

func become(s seat.Seat) error {
	for _, step := range []func() error{
		func() error { return syscall.Setgroups(nil) },
		func() error { return syscall.Setresgid(s.GID, s.GID, s.GID) },
		func() error { return syscall.Setresuid(s.UID, s.UID, s.UID) },
	} {
		if err := step(); err != nil {
			return fault.New(fault.Denied, "cannot become user %s: %w", s.Name, err)
		}
	}
	return nil
}

func connect(ctx context.Context, name string) (*api.Client, error) {
	s, err := which(name)
	if err != nil {
		return nil, err
	}
	argv, err := self("seatd", "--announce")
	if err != nil {
		return nil, err
	}
	return serve.Connect(ctx, s, argv)
}

func sites(_ context.Context, name string) ([]string, error) {
	s, err := which(name)
	if err != nil {
		return nil, err
	}
	all, err := s.Sites()
	var ids []string
	for _, site := range all {
		ids = append(ids, site.ID())
	}
	return ids, err
}

func running(ctx context.Context, name string) (api.Version, bool) {
	var v api.Version
	s, err := which(name)
	if err != nil {
		return v, false
	}
	c := serve.NewClient(s, serve.RoleSeat)
	defer c.Close()
	return v, c.Call(ctx, api.PathVersion, struct{}{}, &v, nil) == nil
}

func setup(_ context.Context, s cli.Setup, report func(string)) error {
	root := os.Getenv(rootVariable)
	if s.Remove != "" {
		if s.Check {
			return fault.New(fault.Usage, "cannot check a removal: leave one of the two flags out")
		}
		if err := seat.Remove(root, s.Remove, s.Purge, report); err != nil {
			return err
		}
	}
	if s.Check {
		return seat.Check(root, s.Seats, report)
	}
	return seat.Setup(root, s.Seats, report)
}

func settings(_ context.Context, name string, c cli.SettingsChange) ([]cli.Setting, error) {
	s, err := which(name)
	if err != nil {
		return nil, err
	}
	if err := s.Ensure(); err != nil { // it may be the first verb of all
		return nil, err
	}
	var v seat.Settings
	if !c.All { // else a file that cannot be read is no hindrance
		if v, err = s.Settings(); err != nil {
			return nil, err
		}
	}
	for key, value := range c.Set {
		if err := v.Set(key, value); err != nil {
			return nil, err
		}
	}
	for _, key := range c.Reset {
		if err := v.Set(key, ""); err != nil {
			return nil, err
		}
	}
	if c.All || len(c.Set)+len(c.Reset) > 0 {
		if err := s.SetSettings(v); err != nil {
			return nil, err
		}
	}
	var all []cli.Setting
	for _, key := range seat.SettingKeys() {
		value := v.Get(key)
		all = append(all, cli.Setting{Key: key, Value: value, Default: value == ""})
	}
	return all, nil
}

// seatd is the seat service. With --announce a verb waits on descriptor 3 for its word.
func seatd(ctx context.Context, words []string) error {
	say := func(error) {}
	if slices.Contains(words, "--announce") {
		// Once: the descriptor is closed then, and its number may be another file's when the service ends badly later.
		say = once(serve.Ready)
	}
	err := runSeatd(ctx, func() { say(nil) })
	if err != nil {
		say(err)
	}
	return err
}

// once makes of say one whose later calls do nothing.
func once(say func(error)) func(error) {
	var said sync.Once
	return func(err error) { said.Do(func() { say(err) }) }
}

func runSeatd(ctx context.Context, ready func()) error {
	s, err := seat.Current(os.Getenv(rootVariable))
	if err != nil {
		return err
	}
	argv, err := self("keeper")
	if err != nil {
		return err
	}
	return serve.Run(ctx, serve.Config{Seat: s, Version: version(), Keeper: argv}, ready)
}

func keep(context.Context, []string) error { return keeper.Main(os.Stdin, os.Stdout) }

// stamp is what the Makefile says of the tree that it builds: a tag, or a revision.
var stamp string

// version is the stamp, else what the Go toolchain recorded about this build.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return versionOf(stamp, info)
}

func versionOf(stamp string, info *debug.BuildInfo) string {
	const unknown = "(devel)"
	recorded := ""
	if v := info.Main.Version; v != unknown {
		recorded = v
	}
	revision := ""
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			revision = s.Value
		}
	}
	return cmp.Or(stamp, recorded, revision, unknown)
}
