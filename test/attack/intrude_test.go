package attack_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/test/rfb"
	"github.com/5dive/browser/test/scene"
)

// attempt is one thing that a second user tries. Nil means that he got in. A control is one that the seat itself must get done: without it
// a refusal proves nothing.
type attempt struct {
	Name    string
	Control bool
	try     func() error
}

// result is an attempt that was made; Err "" is a way in.
type result struct {
	Name    string
	Control bool
	Err     string
}

// intrudeRole reads a target on stdin, tries everything and tells how each ended.
func intrudeRole([]string) error {
	var g target
	if err := json.NewDecoder(os.Stdin).Decode(&g); err != nil {
		return err
	}
	var all []result
	for _, a := range g.attempts() {
		if os.Getuid() == g.UID && !a.Control {
			continue // of course he gets it done, and it would spoil the target
		}
		r := result{Name: a.Name, Control: a.Control}
		if err := a.try(); err != nil {
			r.Err = err.Error()
		}
		all = append(all, r)
	}
	return json.NewEncoder(os.Stdout).Encode(all)
}

func (g target) attempts() []attempt {
	var all []attempt
	for _, kind := range []func() []attempt{g.onStore, g.onScreen, g.onSockets, g.onPort, g.onProcesses, g.onSharedPlaces} {
		all = append(all, kind()...)
	}
	return all
}

// onStore goes for the store, by names that he guesses.
func (g target) onStore() []attempt {
	profile := filepath.Join(g.Dir, g.Profile)
	cookies := filepath.Join(profile, "chrome", "Default", "Cookies")
	read := func(path string) func() error {
		return func() error {
			f, err := os.Open(path)
			if err == nil {
				f.Close()
			}
			return err
		}
	}
	list := func(path string) func() error { return func() error { _, err := os.ReadDir(path); return err } }
	stat := func(path string) func() error { return func() error { _, err := os.Lstat(path); return err } }
	all := []attempt{
		{"list the store", true, list(filepath.Dir(g.Dir))},
		{"list the seat", true, list(g.Dir)},
		{"list the profile", true, list(profile)},
		{"see the profile by its guessed name", true, stat(profile)},
		{"see the cookie file", true, stat(cookies)},
		{"open the cookie file", true, read(cookies)},
		{"open the events", true, read(filepath.Join(g.Dir, ".state", "events.ndjson"))},
		{"open the service's log", true, read(filepath.Join(g.Dir, ".state", "service.log"))},
		{"open the display's cookie", true, read(g.Authority)},
		{"enter the seat's directory", true, func() error { return os.Chdir(g.Dir) }},
		{"watch the seat's directory", true, func() error { return inotify(g.Dir) }},
		{"watch the store", true, func() error { return inotify(filepath.Dir(g.Dir)) }},
		{"open the seat's directory by O_PATH and look inside", true, func() error { return beneath(g.Dir, g.Profile) }},
		{"make a file in the seat's directory", false, func() error { return os.WriteFile(filepath.Join(g.Dir, "planted"), nil, 0o600) }},
		{"make a seat of his own in the store", false, func() error { return os.Mkdir(filepath.Join(filepath.Dir(g.Dir), "planted"), 0o700) }},
		{"rename the seat's directory", false, func() error { return os.Rename(g.Dir, g.Dir+"x") }},
		{"open the seat's directory to all", false, func() error { return os.Chmod(g.Dir, 0o777) }},
		{"take the seat's directory", false, func() error { return os.Chown(g.Dir, os.Getuid(), os.Getgid()) }},
		{"link to the cookie file", false, func() error { return os.Link(cookies, fmt.Sprintf("/tmp/planted-%d", os.Getpid())) }},
	}
	return all
}

func inotify(path string) error {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = unix.InotifyAddWatch(fd, path, unix.IN_ALL_EVENTS)
	return err
}

func beneath(dir, name string) error {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	return unix.Fstatat(fd, name, &st, 0)
}

// onScreen goes for pixels and keys: by both names of the X server, by tools, and by shared memory.
func (g target) onScreen() []attempt {
	path := fmt.Sprintf("/tmp/.X11-unix/X%d", g.Display)
	all := []attempt{
		{"reach the display's socket", true, func() error { return connects("unix", path) }},
		{"open the display without a cookie", false, func() error { return setup("unix", path, nil) }},
		{"open the display with a made-up cookie", false, func() error { return setup("unix", path, make([]byte, 16)) }},
		{"open the display by its abstract name", false, func() error { return setup("unix", "@"+path, nil) }},
		{"open the display over TCP", false, func() error { return setup("tcp", fmt.Sprintf("127.0.0.1:%d", 6000+g.Display), nil) }},
		{"open the display over TCP, IPv6", false, func() error { return setup("tcp", fmt.Sprintf("[::1]:%d", 6000+g.Display), nil) }},
		{"bind the display's abstract name", false, func() error { return binds("@" + path) }},
		{"bind the display's socket path", false, func() error { return binds(path) }},
		{"remove the display's socket", false, func() error { return os.Remove(path) }},
		{"move the display's socket away", false, func() error { return os.Rename(path, path+"x") }},
	}
	for _, name := range []string{"unix:", ":", "127.0.0.1:"} {
		display := name + strconv.Itoa(g.Display)
		for what, argv := range map[string][]string{
			"read the screen": {"xwd", "-root", "-silent", "-out", "/dev/null"},
			"press a key":     {"xdotool", "key", "F13"},
			"list windows":    {"xwininfo", "-root", "-tree"},
			"log the keys":    {"xinput", "list"},
			"ask the server":  {"xdpyinfo"},
			"admit everybody": {"xhost", "+"},
		} {
			with, control := "XAUTHORITY="+g.Authority, name == "unix:" && what != "admit everybody"
			all = append(all,
				attempt{what + " on " + display + ", no cookie", false, func() error { return run(argv, "DISPLAY="+display) }},
				attempt{what + " on " + display + ", the cookie file's path", control, func() error { return run(argv, "DISPLAY="+display, with) }})
		}
	}
	segments, err := scene.Segments()
	if err != nil {
		all = append(all, attempt{"list shared memory", false, func() error { return nil }})
	}
	for _, s := range segments {
		if s.UID == g.UID {
			all = append(all,
				attempt{fmt.Sprintf("read segment %d, mode %o", s.ID, s.Mode), false, func() error { return s.Attach(false, nil) }},
				attempt{fmt.Sprintf("write segment %d, mode %o", s.ID, s.Mode), false, func() error { return s.Attach(true, nil) }})
		}
	}
	return all
}

func run(argv []string, env ...string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append([]string{"PATH=/usr/bin:/bin", "HOME=/nonexistent"}, env...)
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
	defer stop.Stop()
	return cmd.Wait()
}

func connects(network, address string) error {
	c, err := net.DialTimeout(network, address, 3*time.Second)
	if err == nil {
		c.Close()
	}
	return err
}

func binds(path string) error {
	l, err := net.Listen("unix", path)
	if err == nil {
		l.Close()
	}
	return err
}

// setup is the beginning of the X protocol; a first byte of 1 is an open server.
func setup(network, address string, cookie []byte) error {
	c, err := net.DialTimeout(network, address, 3*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(5 * time.Second))
	name := ""
	if cookie != nil {
		name = "MIT-MAGIC-COOKIE-1"
	}
	ask := []byte{'l', 0}
	for _, n := range []int{11, 0, len(name), len(cookie), 0} {
		ask = binary.LittleEndian.AppendUint16(ask, uint16(n))
	}
	ask = append(ask, name...)
	ask = append(ask, make([]byte, (4-len(name)%4)%4)...)
	ask = append(ask, cookie...)
	if _, err := c.Write(ask); err != nil {
		return err
	}
	status := make([]byte, 1)
	if _, err := io.ReadFull(c, status); err != nil {
		return err
	}
	if status[0] != 1 {
		return fmt.Errorf("status %d", status[0])
	}
	return nil
}

// onSockets goes for every Unix socket that the seat holds.
func (g target) onSockets() []attempt {
	var all []attempt
	for what, path := range g.Sockets {
		control := what == "seat" || what == "relay" || what == "singleton" // the VNC server has one client at a time
		all = append(all, attempt{"reach socket " + what, control, func() error { return connects("unix", path) }})
	}
	for _, name := range g.Abstract {
		all = append(all, attempt{"reach abstract name " + name, false, func() error { return connects("unix", "@"+name) }})
	}
	return all
}

// onPort goes for the loopback port of the view.
func (g target) onPort() []attempt {
	origin := fmt.Sprintf("http://127.0.0.1:%d", g.Port)
	post := func(step, body, cookie string) func() error {
		return func() error {
			req, err := http.NewRequest("POST", origin+g.View+"/"+step, strings.NewReader(body))
			if err != nil {
				return err
			}
			req.Header.Set("Origin", origin)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Sec-Fetch-Site", "same-origin")
			if cookie != "" {
				req.Header.Set("Cookie", "view="+cookie)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			if resp.StatusCode >= 300 {
				return errors.New(resp.Status)
			}
			return nil
		}
	}
	all := []attempt{
		{"see the page, which says nothing", true, func() error {
			resp, err := http.Get(origin + g.View)
			if err == nil {
				resp.Body.Close()
			}
			return err
		}},
		{"look at the link with a guessed nonce", false, post("peek", `{"hash":"`+strings.Repeat("0", 64)+`"}`, "")},
		{"spend the link with a guessed nonce", false, post("enter", `{"nonce":"`+strings.Repeat("0", 64)+`"}`, "")},
		{"join the stream without the cookie", false, func() error { return join(g.Port, g.View+"/stream", origin, "") }},
		{"join without a password", false, func() error { return join(g.Port, "/", "", "") }},
		{"join with three guesses of the password", false, func() error { return guess(g.Port, 3) }},
		{"join with thirty guesses of the password", false, func() error { return guess(g.Port, 30) }},
		{"bind the port", false, func() error { return takes(fmt.Sprintf("127.0.0.1:%d", g.Port)) }},
		{"bind the port on all addresses", false, func() error { return takes(fmt.Sprintf("0.0.0.0:%d", g.Port)) }},
	}
	for _, step := range []string{"state", "text", "size", "done", "cancel"} {
		all = append(all,
			attempt{step + " without the cookie", false, post(step, `{}`, "")},
			attempt{step + " with a made-up cookie", false, post(step, `{}`, "bWFkZXVw.bWFkZXVw")})
	}
	return all
}

func takes(address string) error {
	l, err := net.Listen("tcp4", address)
	if err == nil {
		l.Close()
	}
	return err
}

// join begins a websocket and RFB without a password.
func join(port int, path, origin, password string) error {
	c, err := net.DialTimeout("tcp4", fmt.Sprintf("127.0.0.1:%d", port), 3*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	header := http.Header{}
	if origin != "" {
		header.Set("Origin", origin)
	}
	ws, _, err := rfb.DialWebsocket(c, fmt.Sprintf("http://127.0.0.1:%d%s", port, path), header)
	if err != nil {
		return err
	}
	_, err = rfb.Join(ws, password)
	return err
}

// guess tries passwords until one is right.
func guess(port, times int) error {
	var last error
	for i := range times {
		if last = join(port, "/", "", fmt.Sprintf("guess%03d", i)); last == nil {
			return nil
		}
	}
	return last
}

// onProcesses goes for the memory and the descriptors of the seat's processes.
func (g target) onProcesses() []attempt {
	var all []attempt
	for what, pid := range g.PIDs {
		dir := fmt.Sprintf("/proc/%d", pid)
		control := what == "seatd"
		open := func(name string, flag int) func() error {
			return func() error {
				f, err := os.OpenFile(filepath.Join(dir, name), flag, 0)
				if err != nil {
					return err
				}
				defer f.Close()
				if name == "mem" {
					return nil
				}
				n, err := f.Read(make([]byte, 1))
				if n == 0 {
					return fmt.Errorf("nothing to read: %v", err)
				}
				return nil
			}
		}
		list := func(name string) func() error {
			return func() error { _, err := os.ReadDir(filepath.Join(dir, name)); return err }
		}
		link := func(name string) func() error {
			return func() error { _, err := os.Readlink(filepath.Join(dir, name)); return err }
		}
		all = append(all,
			attempt{"memory of " + what, control, open("mem", os.O_RDONLY)},
			attempt{"writing memory of " + what, false, open("mem", os.O_RDWR)},
			attempt{"environment of " + what, control, open("environ", os.O_RDONLY)},
			attempt{"map of " + what, control, open("maps", os.O_RDONLY)},
			attempt{"auxiliary vector of " + what, control, open("auxv", os.O_RDONLY)},
			attempt{"system call of " + what, false, open("syscall", os.O_RDONLY)},
			attempt{"descriptors of " + what, control, list("fd")},
			attempt{"mapped files of " + what, false, list("map_files")},
			attempt{"directory of " + what, control, link("cwd")},
			attempt{"root of " + what, control, link("root")},
			attempt{"walk through the root of " + what, false, list("root")},
			attempt{"program of " + what, control, link("exe")},
			attempt{"tracing " + what, false, func() error { return trace(pid) }},
			attempt{"seizing " + what, false, func() error { return seize(pid) }},
			attempt{"reading memory of " + what + " by system call", false, func() error { return readMemory(pid) }},
			attempt{"taking a descriptor of " + what, false, func() error { return takeFD(pid) }},
			attempt{"entering the namespaces of " + what, false, func() error { return enter(pid) }},
			attempt{"signalling " + what, false, func() error { return syscall.Kill(pid, 0) }})
	}
	return all
}

func trace(pid int) error {
	runtime.LockOSThread() // never unlocked: the thread ends with its tracee
	if err := unix.PtraceAttach(pid); err != nil {
		return err
	}
	unix.Wait4(pid, nil, 0, nil)
	return unix.PtraceDetach(pid)
}

func seize(pid int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return unix.PtraceSeize(pid)
}

func readMemory(pid int) error {
	into := make([]byte, 8)
	local := []unix.Iovec{{Base: &into[0], Len: 8}}
	_, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: 0x400000, Len: 8}}, 0)
	return err
}

func takeFD(pid int) error {
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	defer unix.Close(pidfd)
	fd, err := unix.PidfdGetfd(pidfd, 0, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func enter(pid int) error {
	var last error
	for _, name := range []string{"user", "ipc", "mnt", "pid", "net"} {
		fd, err := unix.Open(fmt.Sprintf("/proc/%d/ns/%s", pid, name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			last = err
			continue
		}
		last = unix.Setns(fd, 0)
		unix.Close(fd)
		if last == nil {
			return nil
		}
	}
	return last
}

// public are files of the seat that others may read by design, with nothing in them: the X server's lock holds its pid.
func (g target) public(path string) bool { return path == fmt.Sprintf("/tmp/.X%d-lock", g.Display) }

// onSharedPlaces opens whatever belongs to the seat in the places that all users share.
func (g target) onSharedPlaces() []attempt {
	var all []attempt
	for _, place := range []string{"/tmp", "/dev/shm", "/var/tmp", "/run", "/var/log", "/dev/mqueue"} {
		filepath.WalkDir(place, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return fs.SkipDir
			}
			var st unix.Stat_t
			if unix.Lstat(path, &st) != nil || int(st.Uid) != g.UID || g.public(path) || e.Type()&fs.ModeSocket != 0 {
				return nil
			}
			all = append(all, attempt{"open " + path, false, func() error {
				if e.IsDir() {
					_, err := os.ReadDir(path)
					return err
				}
				_, err := os.ReadFile(path)
				return err
			}})
			return nil
		})
	}
	return all
}

// intrude runs the role as somebody and gives what came of each attempt.
func intrude(cmd *exec.Cmd, g target) ([]result, error) {
	in, err := json.Marshal(g)
	if err != nil {
		return nil, err
	}
	var out, story bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &story
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, story.Bytes())
	}
	var all []result
	return all, json.Unmarshal(out.Bytes(), &all)
}
