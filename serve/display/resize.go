package display

import (
	"fmt"
	"time"

	"github.com/5dive/browser/internal/fault"
	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/xproto"
)

// The sizes a screen can have. Xvfb is started with the largest one, since it cannot grow beyond its start; 8 MiB of
// frame buffer, of which only the shown part is ever written. Chromium's windows are at least 500 wide (measured), on a
// narrower screen their right side would be out of sight; a phone of 20:9 is 500x1111 then.
const (
	MinWidth, MinHeight = 500, 300
	MaxWidth, MaxHeight = 1920, 1112
)

// fit is the nearest size that a screen can have. One that is too small, a phone's, keeps its shape: the viewer shows it
// scaled down.
func fit(width, height int) (int, int) {
	width, height = min(max(width, 1), 1<<14), min(max(height, 1), 1<<14)
	if width < MinWidth {
		width, height = MinWidth, height*MinWidth/width
	}
	return min(width, MaxWidth), min(max(height, MinHeight), MaxHeight)
}

// Size is the screen's present size.
func (in *Input) Size() (width, height int, err error) { return in.link.size() }

// Resize gives the screen a size, the nearest that it can have, and returns that. VNC servers and windows follow.
func (in *Input) Resize(width, height int) (gotWidth, gotHeight int, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.link.resize(width, height)
}

func (l *link) size() (int, int, error) {
	reply, err := xproto.GetGeometry(l.x, xproto.Drawable(l.root)).Reply()
	if err != nil {
		return 0, 0, fault.New(fault.Failed, "cannot read the size of the display: %w", err)
	}
	return int(reply.Width), int(reply.Height), nil
}

func (l *link) resize(width, height int) (int, int, error) {
	width, height = fit(width, height)
	if err := l.extension("RANDR"); err != nil {
		return 0, 0, err
	}
	nowWidth, nowHeight, err := l.size()
	if err != nil || nowWidth == width && nowHeight == height {
		return width, height, err
	}
	if err := l.changeSize(width, height, nowWidth, nowHeight); err != nil {
		return 0, 0, fault.New(fault.Failed, "cannot make the display %dx%d: %w", width, height, err)
	}
	return width, height, nil
}

// changeSize goes by way of a screen that holds both the old and the new mode, since a CRTC must lie inside the screen at
// every step.
func (l *link) changeSize(width, height, nowWidth, nowHeight int) error {
	now, both, then := [2]int{nowWidth, nowHeight}, [2]int{max(width, nowWidth), max(height, nowHeight)}, [2]int{width, height}
	if both != now {
		if err := l.setScreen(both[0], both[1]); err != nil {
			return err
		}
	}
	if err := l.setMode(width, height); err != nil || both == then {
		return err
	}
	l.announce(width, height)
	return l.setScreen(width, height)
}

// announceWait is how long a VNC server gets to read an announcement. Nothing shows that it has.
const announceWait = 250 * time.Millisecond

// announce tells of a smaller size before it is there. X0tigervnc reads the screen at the size that it last heard of, and
// dies of the error if the screen has shrunk meanwhile; it goes by ConfigureNotify events of the root window alone, and
// must not get another one with the old size in between. The window manager and Chrome ask for the real size.
func (l *link) announce(width, height int) {
	event := xproto.ConfigureNotifyEvent{Event: l.root, Window: l.root, Width: uint16(width), Height: uint16(height)}
	err := xproto.SendEventChecked(l.x, false, l.root, xproto.EventMaskStructureNotify, string(event.Bytes())).Check()
	if err != nil {
		return
	}
	timer := time.NewTimer(announceWait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.done:
	}
}

// setMode gives the one CRTC a mode of this size.
func (l *link) setMode(width, height int) error {
	if _, err := randr.QueryVersion(l.x, 1, 3).Reply(); err != nil {
		return err
	}
	resources, err := randr.GetScreenResources(l.x, l.root).Reply()
	if err != nil {
		return err
	}
	if len(resources.Crtcs) == 0 || len(resources.Outputs) == 0 {
		return fmt.Errorf("it has no output")
	}
	output := resources.Outputs[0]
	mode, err := l.mode(resources, output, width, height)
	if err != nil {
		return err
	}
	set, err := randr.SetCrtcConfig(l.x, resources.Crtcs[0], 0, resources.ConfigTimestamp, 0, 0, mode,
		randr.RotationRotate0, []randr.Output{output}).Reply()
	if err != nil {
		return err
	}
	if set.Status != randr.SetConfigSuccess {
		return fmt.Errorf("the server answers %d", set.Status)
	}
	return nil
}

// setScreen keeps the pixels square at 96 dots per inch.
func (l *link) setScreen(width, height int) error {
	millimetres := func(pixels int) uint32 { return uint32(pixels * 254 / 960) }
	return randr.SetScreenSizeChecked(l.x, l.root, uint16(width), uint16(height), millimetres(width), millimetres(height)).Check()
}

// mode finds a mode of this size, or makes one and gives it to the output.
func (l *link) mode(r *randr.GetScreenResourcesReply, output randr.Output, width, height int) (randr.Mode, error) {
	for _, m := range r.Modes {
		if int(m.Width) == width && int(m.Height) == height {
			return randr.Mode(m.Id), nil
		}
	}
	name := fmt.Sprintf("%dx%d", width, height)
	w, h := uint16(width), uint16(height)
	made, err := randr.CreateMode(l.x, l.root, randr.ModeInfo{Width: w, Height: h, Htotal: w, Vtotal: h,
		DotClock: uint32(width) * uint32(height) * 60, NameLen: uint16(len(name))}, name).Reply()
	if err != nil {
		return 0, err
	}
	return made.Mode, randr.AddOutputModeChecked(l.x, output, made.Mode).Check()
}
