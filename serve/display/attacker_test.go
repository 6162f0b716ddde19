package display

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// squatRole takes places of display numbers, says "ready" and holds them until stdin closes: squat KIND FIRST COUNT.
// Each connection that it catches is told on stdout.
func squatRole(args []string) error {
	first, _ := strconv.Atoi(args[1])
	count, _ := strconv.Atoi(args[2])
	for n := first; n < first+count; n++ {
		if err := squat(args[0], n); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	for n := first; n < first+count; n++ {
		os.Remove(socketPath(n))
		os.Remove(lockPath(n))
	}
	return nil
}

func squat(kind string, n int) error {
	switch kind {
	case "abstract":
		return catch("unix", "@"+socketPath(n))
	case "path":
		return catch("unix", socketPath(n))
	case "file":
		return os.WriteFile(socketPath(n), nil, 0o666)
	case "lock":
		return os.WriteFile(lockPath(n), fmt.Appendf(nil, "%10d\n", os.Getpid()), 0o444)
	case "lock-link":
		return os.Symlink("/etc/passwd", lockPath(n))
	case "tcp":
		return catch("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(6000+n)))
	}
	return errors.New("no such place: " + kind)
}

func catch(network, address string) error {
	l, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.SetDeadline(time.Now().Add(time.Second))
			b := make([]byte, 64)
			got, _ := c.Read(b)
			fmt.Printf("caught %d bytes at %s\n", got, address)
			c.Close()
		}
	}()
	return nil
}

// greetRole tries the X server of a display from outside, on both names, as the protocol begins: greet NUMBER.
// It prints one line for each: "path status 0", "abstract connection refused".
func greetRole(args []string) error {
	n, _ := strconv.Atoi(args[0])
	for name, address := range map[string]string{"path": socketPath(n), "abstract": "@" + socketPath(n)} {
		fmt.Println(name, greet(address))
	}
	fd, err := bindAbstract(n)
	fmt.Println("bind", errors.Is(err, syscall.EADDRINUSE))
	unix.Close(fd)
	fmt.Println("held", flood("@"+socketPath(n))+flood(socketPath(n)))
	return nil
}

func greet(address string) string {
	c, err := net.Dial("unix", address)
	if err != nil {
		return errors.Unwrap(errors.Unwrap(err)).Error()
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(2 * time.Second))
	c.Write(setupRequest(nil))
	status := make([]byte, 1)
	if _, err := io.ReadFull(c, status); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("status %d", status[0])
}

// flood opens 400 connections that say nothing and counts those that stay.
func flood(address string) int {
	held := 0
	for range 400 {
		if c, err := net.Dial("unix", address); err == nil {
			defer c.Close()
			held++
		}
	}
	return held
}

// shmatRole attaches each SysV segment of the uid given, for reading and for writing: shmat UID. It prints a line for
// each: "17 mode 600 read denied write denied".
func shmatRole(args []string) error {
	segments, err := sharedSegments()
	if err != nil {
		return err
	}
	for _, s := range segments {
		if strconv.Itoa(s.uid) == args[0] {
			fmt.Printf("%d mode %o read %s write %s\n", s.id, s.mode, attach(s.id, unix.SHM_RDONLY), attach(s.id, 0))
		}
	}
	return nil
}

type segment struct{ id, mode, uid int }

// sharedSegments reads the kernel's list (proc(5), sysvipc/shm).
func sharedSegments() ([]segment, error) {
	f, err := os.Open("/proc/sysvipc/shm")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var header string
	var list []segment
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	for i, line := range splitLines(b) {
		if i == 0 {
			header = line
			continue
		}
		var key, id, mode, size, cpid, lpid, nattch, uid int
		if _, err := fmt.Sscan(line, &key, &id, &mode, &size, &cpid, &lpid, &nattch, &uid); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", header, line, err)
		}
		// the mode is octal digits, read as decimal
		octal, err := strconv.ParseInt(strconv.Itoa(mode), 8, 32)
		if err != nil {
			return nil, err
		}
		list = append(list, segment{id, int(octal) & 0o777, uid})
	}
	return list, nil
}

func splitLines(b []byte) []string {
	var lines []string
	for len(b) > 0 {
		i := 0
		for i < len(b) && b[i] != '\n' {
			i++
		}
		lines = append(lines, string(b[:i]))
		b = b[min(i+1, len(b)):]
	}
	return lines
}

func attach(id, flags int) string {
	b, err := unix.SysvShmAttach(id, 0, flags)
	if errors.Is(err, unix.EACCES) {
		return "denied"
	}
	if err != nil {
		return err.Error()
	}
	unix.SysvShmDetach(b)
	return "open"
}
