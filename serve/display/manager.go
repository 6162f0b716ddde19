package display

import (
	"context"
	_ "embed"
	"os"
	"path/filepath"
	"sync"

	"github.com/5dive/browser/internal/fault"
	"github.com/jezek/xgb/xproto"
)

//go:embed openbox.xml
var managerConfig []byte

// managerStarts is how often openbox may end before it is left alone: without it popups have no frame, the rest works.
const managerStarts = 3

// manager is the window manager of a display. Its goroutine starts openbox again when it ends by itself.
type manager struct {
	stop  chan struct{}
	done  chan struct{}
	tasks sync.WaitGroup
}

// startManager starts openbox with our configuration and waits until it manages windows.
func startManager(ctx context.Context, d *Display) (*manager, error) {
	config := filepath.Join(d.config.Scratch, "openbox.xml")
	os.Remove(config)
	if err := os.WriteFile(config, managerConfig, 0o600); err != nil {
		return nil, fault.New(fault.Failed, "cannot write the window manager's configuration: %w", err)
	}
	if err := d.link.watch(d.link.root, xproto.EventMaskPropertyChange|xproto.EventMaskSubstructureNotify); err != nil {
		return nil, err
	}
	wm, err := d.spawnManager(config)
	if err != nil {
		return nil, err
	}
	m := &manager{stop: make(chan struct{}), done: make(chan struct{})}
	go m.keep(d, config, wm)
	if err := d.managed(ctx, wm); err != nil {
		m.close()
		return nil, err
	}
	m.tasks.Go(func() { d.keepShown(m.stop) })
	return m, nil
}

// spawnManager: --sm-disable, no session; --config-file, not the user's; openbox runs no autostart file by itself.
func (d *Display) spawnManager(config string) (*child, error) {
	path, err := program("openbox")
	if err != nil {
		return nil, err
	}
	return spawn(spec{path: path, args: []string{"openbox", "--sm-disable", "--config-file", config},
		env: d.clientEnvironment(), dir: d.config.Scratch, follow: true})
}

func (m *manager) keep(d *Display, config string, wm *child) {
	defer close(m.done)
	for range managerStarts {
		select {
		case <-m.stop:
			wm.end()
			return
		case <-d.link.done:
			wm.end()
			return
		case <-wm.done:
		}
		next, err := d.spawnManager(config)
		if err != nil {
			return
		}
		wm = next
	}
	select {
	case <-m.stop:
	case <-d.link.done:
	}
	wm.end()
}

func (m *manager) close() {
	select {
	case <-m.stop:
	default:
		close(m.stop)
	}
	<-m.done
	m.tasks.Wait()
}
