// Package keeper is the parent of one open profile's processes: Xvfb, its window manager, the person's Chrome and, while somebody
// looks, one VNC server. It is a process of its own (a hidden verb) so that Chrome still ends well when the seat service is killed.
//
// The order of an end is always the same: one SIGINT to Chrome and never a second one (a second loses the login), urging by keys
// after one second (display.Urge), SIGKILL only when cookies are on disk anyway (36 s); then VNC server, window
// manager and Xvfb. It happens on the word stop and just so when the pipe from the service closes, whatever killed the service.
//
// The keeper decides nothing: it starts what it is told, tells what ended, and leaves restarts to the service. It trusts its
// standard input (the seat service, same uid) and nothing that a page does. It never parses page content.
package keeper

import "time"

// Times of an end, measured on Chromium 156: a clean end takes 0.1-0.4 s, a beforeunload dialog waits for ever, as does Chrome itself in
// half of the ends in whose first tenth of a second the page in front is replaced by another one; cookies are
// written at most every 30 s, so that a kill after 36 s loses none that were set before the SIGINT.
const (
	askAfter   = time.Second
	againAfter = time.Second
	killAfter  = 36 * time.Second
)

// Times of a start: how long display and Chrome together may take before Chrome is not begun, and how long its first window may.
const (
	startLimit  = 30 * time.Second
	windowLimit = 30 * time.Second
)

// Spec is the first line on the keeper's standard input: what to open.
type Spec struct {
	Scratch      string `json:"scratch"`   // 0700, ours alone; display cookie, VNC socket, HOME and TMPDIR of Chrome
	UserData     string `json:"user_data"` // Chrome's user data directory
	Binary       Binary `json:"binary"`
	URL          string `json:"url"`
	Width        int    `json:"width"` // pixels of the first screen size
	Height       int    `json:"height"`
	TimeZone     string `json:"time_zone"`
	Locale       string `json:"locale"`
	SharedMemory bool   `json:"shared_memory"` // this process stands in an IPC namespace of its own
}

// Binary names the Chrome to run, as the service found it.
type Binary struct {
	Path    string `json:"path"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Major   int    `json:"major"`
}

// Command is any later line on standard input.
type Command struct {
	Do     string `json:"do"`               // chrome, vnc, vnc-end, stop
	Server string `json:"server,omitempty"` // for vnc: tigervnc or x11vnc
}

// Event is a line on standard output.
type Event struct {
	Event     string `json:"event"` // progress, display, chrome, ready, chrome-exit, vnc, vnc-exit, failed, display-exit, stopped
	Text      string `json:"text,omitempty"`
	Number    int    `json:"number,omitempty"`    // display: N of unix:N
	Authority string `json:"authority,omitempty"` // display: path of the cookie
	PID       int    `json:"pid,omitempty"`       // chrome
	Code      int    `json:"code,omitempty"`      // chrome-exit: exit code, -1 for a signal
	Signal    string `json:"signal,omitempty"`    // chrome-exit
	Server    string `json:"server,omitempty"`    // vnc
	Socket    string `json:"socket,omitempty"`    // vnc: path of its 0600 socket
	Killed    bool   `json:"killed,omitempty"`    // stopped: Chrome had to be killed
	Kind      string `json:"kind,omitempty"`      // failed: fault kind
	Hint      string `json:"hint,omitempty"`      // failed
}
