package relay

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// What the page does, in a real Chromium, against a seat service that remembers.
func TestPageBehaviour(t *testing.T) {
	browser := chrome(t)
	for name, test := range map[string]func(*testing.T, context.Context){
		"nonce": nonceStays, "keyboard": keyboardAlone, "text": sendText, "paste": pasteOrder, "queue": pasteQueue, "reload": reloadAndReconnect,
		"tabs": twoTabs, "touch": touchKeyboard, "held": heldKeys, "clicks": clicks, "size": sizes, "digest": digests,
	} {
		t.Run(name, func(t *testing.T) { test(t, browser) })
	}
}

// Row 47: the nonce leaves the address bar, and is in no request line, header or later page.
func nonceStays(t *testing.T, chrome context.Context) {
	g := newRig(t, "", nil)
	seen := record(t, g)
	b := newTab(t, chrome, desktop)
	b.do(chromedp.Navigate(g.link()))
	b.card("before")
	if got := eval[string](b, "location.href"); got != g.view() {
		t.Errorf("the address bar shows %s", got)
	}
	if n := eval[int](b, "history.length"); n > 2 {
		t.Errorf("%d history entries", n)
	}
	b.do(chromedp.Click(chromedp.CSS("#enter")))
	b.connected()
	b.do(chromedp.Click(chromedp.CSS("#done")))
	b.card("ended")
	lines := seen()
	if len(lines) < 8 {
		t.Errorf("the recorder saw %d requests only", len(lines))
	}
	for _, line := range lines {
		if strings.Contains(line, testNonce) || strings.Contains(line, "Referer") {
			t.Errorf("recorded: %s", line)
		}
	}
	if strings.Contains(eval[string](b, "document.documentElement.outerHTML"), testNonce) {
		t.Error("the nonce stands in the document")
	}
	b.quiet()
}

// record wraps the rig's handler so that each request line and header is kept, as an access log would.
func record(t *testing.T, g *rig) func() []string {
	t.Helper()
	lines := make(chan string, 1000)
	inner := g.server.Handler
	g.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		lines <- fmt.Sprint(req.Method, " ", req.RequestURI, " ", req.Header)
		inner.ServeHTTP(w, req)
	})
	return func() (all []string) {
		for len(lines) > 0 {
			all = append(all, <-lines)
		}
		return all
	}
}

// The whole way by keyboard: press the button, type, leave the screen by F6, send text, end by Done.
func keyboardAlone(t *testing.T, chrome context.Context) {
	g := newRig(t, "", nil)
	b := newTab(t, chrome, desktop)
	b.do(chromedp.Navigate(g.link()))
	b.card("before")
	if got := b.focused(); got != "before-title" {
		t.Errorf("focus starts on %s", got)
	}
	b.key(kb.Tab)
	if got := b.focused(); got != "enter" {
		t.Errorf("Tab goes to %s", got)
	}
	b.key(kb.Enter)
	b.connected()
	b.wait(`document.activeElement.tagName === "CANVAS"`)
	b.key("a" + kb.Tab)
	g.seat.wait(t, "keys", func() bool { return slices.Contains(g.seat.screen.order, "key:ff09") })
	if got := b.focused(); got != "canvas" {
		t.Errorf("Tab left the screen to %s", got)
	}
	b.key(kb.F6)
	if got := b.focused(); got != "done" {
		t.Errorf("F6 goes to %s", got)
	}
	b.key(kb.F6)
	if got := b.focused(); got != "canvas" {
		t.Errorf("F6 goes back to %s", got)
	}
	b.key(kb.Home, chromedp.ModifierCtrl, chromedp.ModifierAlt)
	if got := b.focused(); got != "done" {
		t.Errorf("Ctrl+Alt+Home goes to %s", got)
	}
	var stops []string
	for range 12 {
		b.key(kb.Tab)
		stops = append(stops, b.focused())
		if stops[len(stops)-1] == "canvas" {
			break
		}
	}
	want := []string{"tool-keys", "tool-text", "tool-help", "canvas"}
	if !slices.Equal(stops, want) {
		t.Errorf("Tab stops after Done: %v, want %v", stops, want)
	}
	b.key(kb.F6)
	b.key(kb.Tab)
	b.key(kb.Tab)
	b.key(" ")
	if got := b.focused(); got != "text-line" {
		t.Errorf("Send text moves the focus to %s", got)
	}
	b.key("secret" + kb.Escape)
	if got := b.focused(); got != "tool-text" {
		t.Errorf("Escape moves the focus to %s", got)
	}
	if got := eval[string](b, `document.getElementById("text-line").value`); got != "" {
		t.Error("Escape leaves the text in the box")
	}
	b.key(kb.Enter)
	b.key("Pä€中🙂" + kb.Enter)
	g.seat.wait(t, "the text", func() bool { return len(g.seat.texts) == 1 && g.seat.texts[0].Text == "Pä€中🙂" })
	b.wait(`document.activeElement.tagName === "CANVAS"`)
	if got := eval[string](b, `document.getElementById("status").textContent`); got != "5 characters sent" {
		t.Errorf("a screen reader hears %q", got)
	}
	b.key(kb.F6)
	b.key(kb.Enter)
	b.card("ended")
	if got := b.focused(); got != "ended-title" {
		t.Errorf("the end has the focus on %s", got)
	}
	b.quiet()
}

func sendText(t *testing.T, chrome context.Context) {
	g := newRig(t, "", nil)
	b := newTab(t, chrome, desktop)
	b.open(g)
	box := func(id string) string { return eval[string](b, `document.getElementById("`+id+`").value`) }
	b.do(chromedp.Click(chromedp.CSS("#tool-text")))
	if kind := eval[string](b, `document.getElementById("text-line").type`); kind != "password" {
		t.Errorf("the box is %s", kind)
	}
	// 1 MB is refused in words, before it goes anywhere, and the view stays (case V07).
	b.insert(strings.Repeat("x", 1_000_000))
	b.wait(`document.getElementById("text-error").textContent.includes("1,000,000 bytes")`)
	if box("text-line") != "" {
		t.Error("a megabyte got into the box")
	}
	eval[int](b, `(document.getElementById("text-line").value = "ä".repeat(33_000)).length`)
	b.do(chromedp.Click(chromedp.CSS("#text-send")))
	b.wait(`document.getElementById("text-error").textContent.includes("66,000 bytes")`)
	b.do(chromedp.Click(chromedp.CSS("#text-many")), chromedp.Click(chromedp.CSS("#text-typed")))
	const lines = "five\nlines\nof\ntext 中 🙂\n"
	eval[string](b, `document.getElementById("text-lines").value = "five\nlines\nof\ntext 中 🙂\n"`)
	if masked := eval[string](b, `getComputedStyle(document.getElementById("text-lines")).webkitTextSecurity`); masked != "disc" {
		t.Errorf("several lines are not masked: %s", masked)
	}
	b.do(chromedp.Click(chromedp.CSS("#text-send")))
	g.seat.wait(t, "lines", func() bool { return len(g.seat.texts) == 1 && g.seat.texts[0].Text == lines && g.seat.texts[0].Typed })
	b.wait(`document.getElementById("text").hidden`)
	if box("text-line")+box("text-lines")+box("catcher") != "" {
		t.Error("text is left in a box")
	}
	g.seat.mu.Lock()
	defer g.seat.mu.Unlock()
	if g.seat.screen.cuts != 0 {
		t.Error("something went by VNC's clipboard")
	}
	b.quiet()
}

// Case V07: the first Ctrl+V brings the new text, and a key typed right after it arrives after it.
func pasteOrder(t *testing.T, chrome context.Context) {
	g := newRig(t, "", nil)
	b := newTab(t, chrome, desktop)
	b.open(g)
	b.clipboard(g)
	b.wait(`document.activeElement.tagName === "CANVAS"`)
	g.seat.change(func() { g.seat.hold = make(chan struct{}) })
	for n, text := range []string{"first naïve 名前 🐚 €", "second\nline"} {
		b.paste(text)
		g.seat.wait(t, "the paste to be under way", func() bool { return g.seat.calls["/v1/view/text"] == n+1 })
		b.key("z")
		g.seat.change(func() { close(g.seat.hold); g.seat.hold = make(chan struct{}) })
		g.seat.wait(t, "the key after the paste", func() bool {
			return slices.Contains(g.seat.screen.order[max(0, len(g.seat.screen.order)-1):], "key:7a")
		})
	}
	g.seat.change(func() { close(g.seat.hold); g.seat.hold = nil })
	ctrl := func(key, code string, vk int64) {
		b.press(input.DispatchKeyEventTypeRawKeyDown, "Control", "ControlLeft", 17, 2)
		b.press(input.DispatchKeyEventTypeRawKeyDown, key, code, vk, 2)
		b.press(input.DispatchKeyEventTypeKeyUp, key, code, vk, 2)
		b.press(input.DispatchKeyEventTypeKeyUp, "Control", "ControlLeft", 17, 0)
	}
	ctrl("a", "KeyA", 65)
	b.key("y")
	g.seat.wait(t, "the last key", func() bool { return slices.Contains(g.seat.screen.ups, 0x79) })
	g.seat.mu.Lock()
	defer g.seat.mu.Unlock()
	// Control is never down while the box pastes, and is down for a letter.
	want := []string{"text:first naïve 名前 🐚 €", "key:7a", "text:second\nline", "key:7a", "key:ffe3", "key:61", "key:79"}
	if !slices.Equal(g.seat.screen.order, want) {
		t.Errorf("arrived: %q, want %q", g.seat.screen.order, want)
	}
	if want := []uint32{0x7a, 0x7a, 0x61, 0xffe3, 0x79}; !slices.Equal(g.seat.screen.ups[:min(5, len(g.seat.screen.ups))], want) {
		t.Errorf("let go: %x, want %x", g.seat.screen.ups, want)
	}
	b.quiet()
}

// Two pastes and a key between them arrive in that order, however slow the first is.
func pasteQueue(t *testing.T, chrome context.Context) {
	g := newRig(t, "", nil)
	b := newTab(t, chrome, desktop)
	b.open(g)
	b.clipboard(g)
	b.wait(`document.activeElement.tagName === "CANVAS"`)
	g.seat.change(func() { g.seat.hold = make(chan struct{}) })
	b.paste("one")
	g.seat.wait(t, "the first paste to be under way", func() bool { return g.seat.calls["/v1/view/text"] == 1 })
	b.key("z")
	b.paste("two")
	b.key("y")
	g.seat.change(func() { close(g.seat.hold); g.seat.hold = nil })
	g.seat.wait(t, "the last key", func() bool { return slices.Contains(g.seat.screen.order, "key:79") })
	g.seat.mu.Lock()
	defer g.seat.mu.Unlock()
	if want := []string{"text:one", "key:7a", "text:two", "key:79"}; !slices.Equal(g.seat.screen.order, want) {
		t.Errorf("arrived: %q, want %q", g.seat.screen.order, want)
	}
}

// A reload goes back into the view without the link, a cut connection comes back, and an end while away is told.
func reloadAndReconnect(t *testing.T, chrome context.Context) {
	g := newRig(t, "", nil)
	b := newTab(t, chrome, desktop)
	b.open(g)
	b.do(chromedp.Reload())
	b.connected()
	g.seat.screen.drop()
	g.seat.wait(t, "the third connection", func() bool { return g.seat.screen.connects == 3 })
	b.connected()
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(g.link()))
	b.connected() // the spent link opened again by the one who spent it
	g.seat.mu.Lock()
	entered := g.seat.calls["/v1/view/enter"]
	g.seat.mu.Unlock()
	if entered != 1 {
		t.Errorf("the link was spent %d times", entered)
	}
	g.seat.change(func() { g.seat.phase, g.seat.end = "ended", "idle" })
	g.seat.screen.drop()
	b.card("ended")
	if got := eval[string](b, `document.getElementById("ended-text").textContent`); !strings.Contains(got, "no key or click") {
		t.Errorf("the end says %q", got)
	}
	b.do(chromedp.Reload())
	b.card("ended")
	b.quiet()
}

// Two tabs do not take the screen from each other for ever.
func twoTabs(t *testing.T, chrome context.Context) {
	g := newRig(t, "", nil)
	first := newTab(t, chrome, desktop)
	first.open(g)
	ctx, cancel := chromedp.NewContext(first.ctx)
	defer cancel()
	second := &tab{t: t, ctx: ctx}
	second.do(chromedp.Navigate(g.view()))
	second.connected()
	first.card("elsewhere")
	first.do(chromedp.Click(chromedp.CSS("#take")))
	first.connected()
	second.card("elsewhere")
	g.seat.mu.Lock()
	defer g.seat.mu.Unlock()
	if g.seat.screen.connects != 3 {
		t.Errorf("%d connections", g.seat.screen.connects)
	}
}

// The phone's keyboard: letters of any script, corrections and Backspace become keys.
func touchKeyboard(t *testing.T, chrome context.Context) {
	g := newRig(t, "", nil)
	b := newTab(t, chrome, phone)
	b.open(g)
	b.do(chromedp.Click(chromedp.CSS("#tool-keyboard")))
	if got := b.focused(); got != "touch" {
		t.Fatalf("the keyboard button focuses %s", got)
	}
	b.insert("aä")
	b.insert("中")
	b.key(kb.Backspace)
	eval[bool](b, `(() => { const box = document.getElementById("touch"); box.value = box.value.slice(0, -2) + "ok"; box.dispatchEvent(new InputEvent("input", {bubbles: true})); return true })()`)
	b.key(kb.Enter)
	want := []string{"key:61", "key:e4", "key:1004e2d", "key:ff08", "key:ff08", "key:ff08", "key:6f", "key:6b", "key:ff0d"}
	g.seat.wait(t, "the keys", func() bool { return len(g.seat.screen.order) >= len(want) })
	g.seat.mu.Lock()
	if !slices.Equal(g.seat.screen.order, want) {
		t.Errorf("arrived: %v, want %v", g.seat.screen.order, want)
	}
	g.seat.mu.Unlock()
	b.do(chromedp.TapXY(200, 400))
	g.seat.wait(t, "the tap", func() bool { return len(g.seat.screen.mouse) > 0 })
	if got := b.focused(); got != "touch" {
		t.Errorf("a tap on the screen takes the keyboard down: %s", got)
	}
	b.do(chromedp.Click(chromedp.CSS("#tool-keyboard")))
	if got := b.focused(); got == "touch" {
		t.Error("the keyboard button does not take the keyboard down")
	}
	if got := eval[string](b, `document.getElementById("touch").value`); strings.Trim(got, "_") != "" {
		t.Errorf("typed text is left: %q", got)
	}
	b.quiet()
}

// A click on the screen presses and lets go, at the place of the picture that was clicked.
func clicks(t *testing.T, chrome context.Context) {
	g := newRig(t, "", nil)
	b := newTab(t, chrome, desktop)
	b.open(g)
	g.seat.wait(t, "the size of the pane", func() bool { return len(g.seat.sizes) > 0 })
	b.wait(`document.querySelector("#screen canvas").height === document.getElementById("stage").clientHeight`)
	top := eval[float64](b, `document.querySelector("#screen canvas").getBoundingClientRect().top`)
	b.do(chromedp.MouseClickXY(300, top+200))
	g.seat.wait(t, "a press", func() bool { return slices.Contains(g.seat.screen.mouse, "1 300,200") })
	g.seat.wait(t, "its end", func() bool { return g.seat.screen.mouse[len(g.seat.screen.mouse)-1] == "0 300,200" })
	if got := b.focused(); got != "canvas" {
		t.Errorf("a click focuses %s", got)
	}
}

// Ctrl of the key row is down for one key and then let go.
func heldKeys(t *testing.T, chrome context.Context) {
	g := newRig(t, "", nil)
	b := newTab(t, chrome, desktop)
	b.open(g)
	b.do(chromedp.Click(chromedp.CSS("#tool-keys")), chromedp.Click(chromedp.CSS(`[data-hold=Control]`)))
	g.seat.wait(t, "Control", func() bool { return len(g.seat.screen.order) == 1 })
	if got := eval[string](b, `document.querySelector("[data-hold=Control]").getAttribute("aria-pressed")`); got != "true" {
		t.Errorf("Ctrl reads pressed=%s", got)
	}
	b.do(chromedp.Click(chromedp.CSS("#skip"), chromedp.NodeReady))
	b.do(chromedp.Focus(chromedp.CSS("#screen canvas")))
	b.key("a")
	g.seat.wait(t, "Control to go", func() bool { return slices.Contains(g.seat.screen.ups, 0xffe3) })
	g.seat.mu.Lock()
	defer g.seat.mu.Unlock()
	if want := []string{"key:ffe3", "key:61"}; !slices.Equal(g.seat.screen.order, want) {
		t.Errorf("arrived: %v", g.seat.screen.order)
	}
}

// The remote screen takes the shape of the pane, again after the phone is turned, and not for a sheet that covers a part.
func sizes(t *testing.T, chrome context.Context) {
	g := newRig(t, "", nil)
	b := newTab(t, chrome, phone)
	b.open(g)
	shape := func(n int, what string) (w, h int) {
		t.Helper()
		g.seat.wait(t, what, func() bool { return len(g.seat.sizes) >= n })
		g.seat.mu.Lock()
		defer g.seat.mu.Unlock()
		last := g.seat.sizes[len(g.seat.sizes)-1]
		return last.Width, last.Height
	}
	if w, h := shape(1, "the first size"); w != 390 || h < 600 || h > 800 {
		t.Errorf("upright: %dx%d", w, h)
	}
	b.wait(`document.querySelector("#screen canvas").width === 390`)
	b.do(chromedp.Click(chromedp.CSS("#tool-text")))
	b.wait(`(w => w > 380 && w < 391)(document.querySelector("#screen canvas").getBoundingClientRect().width)`)
	b.do(chromedp.Click(chromedp.CSS("#text-close")))
	b.do(chromedp.EmulateViewport(844, 390, chromedp.EmulateScale(2)))
	w, h := shape(2, "the size after turning")
	if w < 1000 || h != 480 {
		t.Errorf("on its side: %dx%d", w, h)
	}
	b.wait(`document.querySelector("#screen canvas").width > 1000`)
	b.axe("landscape")
	g.seat.mu.Lock()
	defer g.seat.mu.Unlock()
	if n := len(g.seat.sizes); n != 2 {
		t.Errorf("%d sizes were asked for: %v", n, g.seat.sizes)
	}
}

// The page's own SHA-256 is the browser's.
func digests(t *testing.T, chrome context.Context) {
	g := newRig(t, "", nil)
	b := newTab(t, chrome, desktop)
	b.do(chromedp.Navigate(g.view()))
	b.card("refused")
	bare := bundle(t, "../page/src/digest.js")
	got := eval[string](b, `(async () => {`+bare+`
		for (let n = 0; n < 200; n++) {
			const bytes = crypto.getRandomValues(new Uint8Array(n));
			const want = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
			if (sha256(bytes).join() !== want.join()) return "differs at length " + n;
		}
		return await digest("abc");
	})()`)
	if got != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("SHA-256 of abc: %s", got)
	}
}
