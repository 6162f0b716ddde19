// Package person plays the person of the demo and the tests: a real headless Chromium that opens the viewer page, presses its buttons
// and types through it. It knows the page by what a person sees and by ids, and nothing of the service behind it.
//
// A Person is one browser with one page; Close ends it. Methods wait until what they need is there and fail when ctx ends.
package person

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Config is who the person is. UID 0 runs as the caller, which must not be root: Chromium refuses root. Home is a directory of that user
// for a throwaway profile. Width and Height are those of the window, in CSS pixels; Phone makes it a touch screen.
type Config struct {
	Binary        string
	UID, GID      int
	Home          string
	Width, Height int
	Phone         bool
	Flags         map[string]any
}

// Person is a browser under way.
type Person struct {
	ctx    context.Context
	cancel []context.CancelFunc
}

// New starts the browser.
func New(ctx context.Context, c Config) (*Person, error) {
	dir, err := os.MkdirTemp(c.Home, "person")
	if err != nil {
		return nil, fmt.Errorf("cannot make the person's profile: %w", err)
	}
	if c.UID != 0 {
		if err := os.Chown(dir, c.UID, c.GID); err != nil {
			return nil, fmt.Errorf("cannot make the person's profile: %w", err)
		}
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(c.Binary), chromedp.UserDataDir(dir), chromedp.WindowSize(c.Width, c.Height), chromedp.NoInheritEnv,
		chromedp.Env("HOME="+dir, "PATH=/usr/bin:/bin", "LANG=C.UTF-8", "TMPDIR="+dir),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-background-networking", true),
		chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) {
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if c.UID != 0 {
				cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(c.UID), Gid: uint32(c.GID)}
			}
		}))
	for name, value := range c.Flags {
		options = append(options, chromedp.Flag(name, value))
	}
	p := &Person{}
	p.cancel = append(p.cancel, func() { os.RemoveAll(dir) })
	alloc, end := chromedp.NewExecAllocator(ctx, options...)
	p.cancel = append(p.cancel, end)
	tab, end := chromedp.NewContext(alloc)
	p.ctx = tab
	p.cancel = append(p.cancel, end)
	view := []chromedp.EmulateViewportOption{}
	if c.Phone {
		view = append(view, chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	if err := chromedp.Do(tab, chromedp.EmulateViewport(int64(c.Width), int64(c.Height), view...)); err != nil {
		p.Close()
		return nil, fmt.Errorf("cannot start the person's browser: %w", err)
	}
	return p, nil
}

// Tab opens a second page in the same browser, as large as a desktop's window. Close ends that page alone.
func (p *Person) Tab(width, height int) (*Person, error) {
	tab, end := chromedp.NewContext(p.ctx)
	second := &Person{ctx: tab, cancel: []context.CancelFunc{end}}
	if err := chromedp.Do(tab, chromedp.EmulateViewport(int64(width), int64(height))); err != nil {
		end()
		return nil, fmt.Errorf("cannot open another tab: %w", err)
	}
	return second, nil
}

// Front brings the page before others of its browser, as a click on its tab does.
func (p *Person) Front() error {
	return p.do(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, page.BringToFront, cdp.Empty{})
		return err
	})
}

// Close ends the browser and removes its profile.
func (p *Person) Close() {
	for i := len(p.cancel) - 1; i >= 0; i-- {
		p.cancel[i]()
	}
}

// within limits one step.
func (p *Person) within(limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(p.ctx, limit)
}

// Visit opens an address in the person's one page.
func (p *Person) Visit(address string) error {
	ctx, cancel := p.within(20 * time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		return fmt.Errorf("cannot open the page: %w", err)
	}
	return nil
}

// Press waits until a button is to be seen and clicks it.
func (p *Person) Press(css string) error {
	ctx, cancel := p.within(20 * time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.WaitVisible(chromedp.CSS(css)), chromedp.Click(chromedp.CSS(css))); err != nil {
		return fmt.Errorf("cannot press %s: %w", css, err)
	}
	return nil
}

// Type presses keys, one after the other, wherever the keyboard's focus is. "\t" is Tab, "\r" Enter.
func (p *Person) Type(keys string) error {
	ctx, cancel := p.within(60 * time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.KeyEvent(keys)); err != nil {
		return errors.New("cannot type into the page") // the cause might repeat what was typed
	}
	return nil
}

// Read waits until an element is to be seen and gives its text.
func (p *Person) Read(css string, limit time.Duration) (string, error) {
	ctx, cancel := p.within(limit)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.WaitVisible(chromedp.CSS(css))); err != nil {
		return "", fmt.Errorf("cannot see %s: %w", css, err)
	}
	text, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS(css)))
	if err != nil {
		return "", fmt.Errorf("cannot read %s: %w", css, err)
	}
	return text, nil
}

// Await waits until an expression of the page is true.
func (p *Person) Await(what, expression string, limit time.Duration) error {
	ctx, cancel := p.within(limit)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(limit)))
	if err != nil {
		return fmt.Errorf("cannot see %s: %w", what, err)
	}
	return nil
}

// Evaluate runs an expression in the page.
func Evaluate[T any](p *Person, expression string) (T, error) {
	ctx, cancel := p.within(20 * time.Second)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression))
}

// Connected waits until the remote screen is there.
func (p *Person) Connected() error {
	return p.Await("the remote screen", `!document.querySelector("#view").hidden && document.querySelector("#connection").dataset.state === "connected" && document.querySelector("#screen canvas") !== null`, time.Minute)
}

// Shot takes a picture of the page.
func (p *Person) Shot(file string) error {
	ctx, cancel := p.within(20 * time.Second)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return fmt.Errorf("cannot take a picture: %w", err)
	}
	return os.WriteFile(file, png, 0o644)
}

// Context is the page's chromedp context, for what has no word here.
func (p *Person) Context() context.Context { return p.ctx }
