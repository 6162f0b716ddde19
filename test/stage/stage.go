// Package stage sets up one seat in a throwaway store, for the demo and the end-to-end tests: a user, a store, and the verbs of a built
// binary run as that user. End leaves nothing: it ends what still runs under the seat's uid, by pid, and removes user and store.
//
// As root it makes users with useradd; otherwise the invoking user is the seat.
package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/5dive/browser/internal/secret"
)

// Stage is one seat. Its fields do not change.
type Stage struct {
	Binary   string // of the product
	User     string
	UID, GID int
	Root     string // the store
	top      string
	made     bool // the user is ours to remove
}

// New makes a seat for a built binary. The store lies in a short path, since sockets have short names.
func New(binary string) (*Stage, error) {
	s := &Stage{Binary: binary}
	if err := s.who(); err != nil {
		return nil, err
	}
	var err error
	if s.top, err = os.MkdirTemp("/tmp", "5d"); err == nil {
		err = s.store()
	}
	if err != nil {
		s.End()
		return nil, fmt.Errorf("cannot make the store: %w", err)
	}
	return s, nil
}

func (s *Stage) who() error {
	if os.Getuid() == 0 {
		s.User = "fd" + secret.Random(4).Reveal()
		if out, err := exec.Command("useradd", "--no-create-home", "--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin", s.User).CombinedOutput(); err != nil {
			return fmt.Errorf("cannot make a user: %w: %s", err, bytes.TrimSpace(out))
		}
		s.made = true
	}
	u, err := user.Current()
	if s.made {
		u, err = user.Lookup(s.User)
	}
	if err != nil {
		return fmt.Errorf("cannot look up the user: %w", err)
	}
	s.User = u.Username
	s.UID, _ = strconv.Atoi(u.Uid)
	s.GID, _ = strconv.Atoi(u.Gid)
	return nil
}

func (s *Stage) store() error {
	s.Root = filepath.Join(s.top, "store")
	for _, dir := range []string{s.top, s.Root, s.Home()} {
		if err := os.MkdirAll(dir, 0o711); err != nil {
			return err
		}
		if err := os.Chmod(dir, 0o711); err != nil {
			return err
		}
	}
	if s.made {
		return errors.Join(os.Chown(s.Root, s.UID, s.GID), os.Chown(s.Home(), s.UID, s.GID), os.Chmod(s.Home(), 0o700))
	}
	return nil
}

// Home is a directory of the seat's user outside the store.
func (s *Stage) Home() string { return filepath.Join(s.top, "home") }

// Dir is the seat's directory in the store.
func (s *Stage) Dir() string { return filepath.Join(s.Root, s.User) }

// Command is a command as the seat, with the store in its environment and little else.
func (s *Stage) Command(ctx context.Context, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=" + s.Home(), "FIVEDIVE_BROWSER_ROOT=" + s.Root}
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if s.made {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(s.UID), Gid: uint32(s.GID)}
	}
	return cmd
}

// Refused is a verb that ended with a code.
type Refused struct {
	Verb   string
	Code   int
	Stderr string
}

func (r *Refused) Error() string {
	return fmt.Sprintf("5dive browser %s ended with %d: %s", r.Verb, r.Code, r.Stderr)
}

// Verb runs one verb and gives its stdout. An exit code other than 0 is *Refused.
func (s *Stage) Verb(ctx context.Context, words ...string) (string, error) {
	return s.VerbWith(ctx, "", words...)
}

// VerbWith is Verb with something on stdin.
func (s *Stage) VerbWith(ctx context.Context, stdin string, words ...string) (string, error) {
	cmd := s.Command(ctx, append([]string{s.Binary, "browser"}, words...)...)
	cmd.Stdin = bytes.NewBufferString(stdin)
	var out, story bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &story
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return out.String(), &Refused{Verb: words[0], Code: exit.ExitCode(), Stderr: story.String()}
	}
	return out.String(), err
}

// JSON runs one verb with --json and decodes its answer.
func (s *Stage) JSON(ctx context.Context, into any, words ...string) error {
	out, err := s.Verb(ctx, append(words, "--json")...)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(out), into)
}

// Process is one process of the seat's user.
type Process struct {
	PID  int
	Argv []string
}

// Processes lists what runs under the seat's uid; zombies do not count. Where the seat is the invoking user it lists what holds the store
// in its environment or arguments.
func (s *Stage) Processes() []Process {
	entries, _ := os.ReadDir("/proc")
	var found []Process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		dir := "/proc/" + e.Name()
		var st syscall.Stat_t
		line, err := os.ReadFile(dir + "/cmdline")
		if err != nil || len(line) == 0 || syscall.Stat(dir, &st) != nil || int(st.Uid) != s.UID {
			continue
		}
		if !s.made {
			env, _ := os.ReadFile(dir + "/environ")
			if !bytes.Contains(append(env, line...), []byte(s.Root)) {
				continue
			}
		}
		argv := bytes.Split(bytes.TrimSuffix(line, []byte{0}), []byte{0})
		p := Process{PID: pid}
		for _, a := range argv {
			p.Argv = append(p.Argv, string(a))
		}
		found = append(found, p)
	}
	return found
}

// Gone waits until nothing of the seat runs.
func (s *Stage) Gone(ctx context.Context) error {
	t := time.NewTicker(50 * time.Millisecond)
	defer t.Stop()
	for {
		left := s.Processes()
		if len(left) == 0 {
			return nil
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return fmt.Errorf("still running: %v", left)
		}
	}
}

// Service is the pid of the seat service.
func (s *Stage) Service() (int, bool) { return s.Find("seatd") }

// Find is the pid of the first process that has a word in its command line.
func (s *Stage) Find(word string) (int, bool) {
	for _, p := range s.Processes() {
		for _, a := range p.Argv {
			if a == word {
				return p.PID, true
			}
		}
	}
	return 0, false
}

// End ends the service in order, then whatever is left, and removes everything.
func (s *Stage) End() error {
	var errs []error
	if pid, ok := s.Service(); ok {
		syscall.Kill(pid, syscall.SIGTERM)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		if err := s.Gone(ctx); err != nil {
			errs = append(errs, err)
		}
		cancel()
	}
	for _, p := range s.Processes() {
		syscall.Kill(p.PID, syscall.SIGKILL)
	}
	if s.top != "" {
		errs = append(errs, os.RemoveAll(s.top))
	}
	if s.made {
		s.made = false
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if out, err := exec.CommandContext(ctx, "userdel", "--force", s.User).CombinedOutput(); err != nil {
			errs = append(errs, fmt.Errorf("cannot remove user %s: %w: %s", s.User, err, bytes.TrimSpace(out)))
		}
	}
	return errors.Join(errs...)
}
