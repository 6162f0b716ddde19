package relay

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/5dive/browser/internal/testuser"
)

// chrome starts a real headless Chromium as an ordinary user and gives its context; it ends with the test.
func chrome(t *testing.T, flags ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	user := testuser.New(t)
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath("/usr/lib/chromium/chromium"),
		chromedp.UserDataDir(filepath.Join(user.Home, "chrome")),
		chromedp.NoInheritEnv,
		chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) {
			as := testuser.Command(user, "true")
			cmd.SysProcAttr, cmd.Env, cmd.Dir = as.SysProcAttr, append(as.Env, "TMPDIR="+user.Home), as.Dir
		}))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), append(options, flags...)...)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewContext(ctx)
	t.Cleanup(stop)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("cannot start Chromium: %v", err)
	}
	t.Cleanup(func() { chromedp.Cancel(ctx) })
	return ctx
}

// tab is one page in a browser context of its own, with what its console said.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu      sync.Mutex
	console []string
}

type shape struct {
	name          string
	width, height int64
	touch         bool
}

var (
	desktop = shape{"desktop", 1280, 800, false}
	phone   = shape{"phone", 390, 844, true}
)

func newTab(t *testing.T, browser context.Context, s shape) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(stop)
	b := &tab{t: t, ctx: ctx}
	scale := 1.0
	if s.touch {
		scale = 2
	}
	b.do(chromedp.EmulateViewport(s.width, s.height, chromedp.EmulateScale(scale)))
	if s.touch {
		b.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := chromedp.Call(ctx, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true})
			return err
		}))
	}
	messages := chromedp.Console(ctx)
	go func() { // ends with ctx
		for m, err := range messages {
			if err != nil {
				return
			}
			b.mu.Lock()
			b.console = append(b.console, m.String())
			b.mu.Unlock()
		}
	}()
	return b
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatalf("page: %v\nconsole: %s", err, b.said())
	}
}

func (b *tab) said() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.console, "\n")
}

func eval[T any](b *tab, js string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", js, err)
	}
	return v
}

// wait waits until an expression of the page is true.
func (b *tab) wait(js string) {
	b.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(time.Minute); ; {
		if ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+js+")")); err == nil && ok {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			b.shot("failed")
			b.t.Fatalf("waited too long for %s\nconsole: %s\ntext: %s", js, b.said(), eval[string](b, "document.body.innerText"))
		}
	}
}

// card waits until a card is shown.
func (b *tab) card(name string) {
	b.t.Helper()
	b.wait(`!document.getElementById("cards").hidden && !document.getElementById("` + name + `").hidden`)
}

// open opens the link and presses the button, and waits for the picture.
func (b *tab) open(g *rig) {
	b.t.Helper()
	b.do(chromedp.Navigate(g.link()))
	b.card("before")
	b.do(chromedp.Click(chromedp.CSS("#enter")))
	b.connected()
}

func (b *tab) connected() {
	b.t.Helper()
	b.wait(`document.getElementById("connection").dataset.state === "connected" && document.querySelector("#screen canvas").width > 300`)
}

func (b *tab) focused() string {
	return eval[string](b, `(e => e.id || e.tagName.toLowerCase() + (e.dataset?.key ?? e.dataset?.hold ?? ""))(document.activeElement)`)
}

// key presses a key; names are those of kb.
func (b *tab) key(keys string, modifiers ...chromedp.Modifier) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...)))
}

// clipboard lets the page write the browser's clipboard, for paste.
func (b *tab) clipboard(g *rig) {
	b.t.Helper()
	if _, err := chromedp.CallBrowser(b.ctx, browser.SetPermission, browser.SetPermissionParams{Origin: g.url,
		Permission: &browser.PermissionDescriptor{Name: "clipboard-write"}, Setting: browser.PermissionSettingGranted,
		BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID}); err != nil {
		b.t.Fatal(err)
	}
	eval[bool](b, `(async () => { while ((await navigator.permissions.query({name: "clipboard-write"})).state !== "granted"); return true })()`)
}

// insert types text in one piece, as an input method or a phone's keyboard does.
func (b *tab) insert(text string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, input.InsertText, input.InsertTextParams{Text: text})
		return err
	}))
}

// paste puts text on the browser's clipboard and presses Ctrl+V, without waiting for anything in between.
func (b *tab) paste(text string) {
	b.t.Helper()
	quoted, _ := json.Marshal(text)
	eval[bool](b, `(async () => { await navigator.clipboard.writeText(`+string(quoted)+`); return true })()`)
	b.press(input.DispatchKeyEventTypeRawKeyDown, "Control", "ControlLeft", 17, 2)
	b.press(input.DispatchKeyEventTypeRawKeyDown, "v", "KeyV", 86, 2, "paste")
	b.press(input.DispatchKeyEventTypeKeyUp, "v", "KeyV", 86, 2)
	b.press(input.DispatchKeyEventTypeKeyUp, "Control", "ControlLeft", 17, 0)
}

// press sends one bare key event; commands are what the browser does by itself on it.
func (b *tab) press(kind input.DispatchKeyEventType, key, code string, vk, modifiers int64, commands ...string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: key, Code: code,
			WindowsVirtualKeyCode: vk, Modifiers: modifiers, Commands: commands})
		return err
	}))
}

// shot keeps a picture in $RELAY_SHOTS, for people to look at.
func (b *tab) shot(name string) {
	dir := os.Getenv("RELAY_SHOTS")
	if dir == "" {
		return
	}
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Logf("no picture: %v", err)
		return
	}
	name = strings.NewReplacer("/", "-", "#", "").Replace(b.t.Name()+"-"+name) + ".png"
	if err := os.WriteFile(filepath.Join(dir, name), picture, 0o644); err != nil {
		b.t.Error(err)
	}
}

// axe runs axe-core on the page as it stands; any violation is an error.
func (b *tab) axe(state string) {
	b.t.Helper()
	b.shot(state)
	source, err := os.ReadFile("../page/node_modules/axe-core/axe.min.js")
	if err != nil {
		b.t.Fatalf("axe-core is not installed: %v; try: npm ci --prefix viewer/page", err)
	}
	if !eval[bool](b, `typeof axe === "object"`) {
		eval[bool](b, string(source)+"\n;true")
	}
	type violation struct {
		ID    string `json:"id"`
		Help  string `json:"help"`
		Nodes []struct {
			HTML           string `json:"html"`
			FailureSummary string `json:"failureSummary"`
		} `json:"nodes"`
	}
	type report struct {
		Violations []violation `json:"violations"`
		Passes     int         `json:"passes"`
	}
	got := eval[report](b, `axe.run(document, {resultTypes: ["violations"]}).then(r => ({violations: r.violations, passes: r.passes.length}))`)
	if got.Passes < 8 {
		b.t.Errorf("%s: axe looked at nothing: %d rules passed", state, got.Passes)
	}
	for _, v := range got.Violations {
		for _, n := range v.Nodes {
			b.t.Errorf("%s: axe %s: %s\n%s\n%s", state, v.ID, v.Help, n.HTML, n.FailureSummary)
		}
	}
}

// quiet holds the console to saying nothing about the page's own rules and errors.
func (b *tab) quiet() {
	b.t.Helper()
	for line := range strings.SplitSeq(b.said(), "\n") {
		for _, bad := range []string{"Content Security Policy", "Refused to", "TrustedScript", "TrustedHTML", "Uncaught", "TypeError", testNonce} {
			if strings.Contains(line, bad) {
				b.t.Errorf("console: %s", line)
			}
		}
	}
}

// bundle reads a module without its exports, for an evaluate.
func bundle(t *testing.T, name string) string {
	t.Helper()
	source, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(source), "export ", "")
}

// dark asks for the dark scheme.
func (b *tab) dark() {
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
		return err
	}))
}
