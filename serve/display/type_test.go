package display

import (
	"fmt"
	"os"
	"testing"
	"time"
)

func TestExplore(t *testing.T) {
	s := newSeat(t)
	e := newEcho(t)
	d := s.must(call{Verb: "start"})
	t.Log(s.must(call{Verb: "dial"}).Spare)
	s.chrome(d, e.site.URL+"/echo.html")
	e.await("focus", func(n told) bool { return n.Focus == "field" })
	shot := func(n string) {
		output(t, s.client(d, "import", "-window", "root", s.user.Home+"/x.png"))
		b, _ := os.ReadFile(s.user.Home + "/x.png")
		os.WriteFile("/tmp/dx/"+n+".png", b, 0o644)
	}
	show := func(what string) {
		time.Sleep(1000 * time.Millisecond)
		n, _ := e.now()
		t.Logf("%s: %q %q keys %d rep %d %dx%d outer %dx%d screen %dx%d", what, n.Field, n.Lines, len(n.Keys), n.Repeats, n.Width, n.Height, n.OuterWidth, n.OuterHeight, n.ScreenWidth, n.ScreenHeight)
	}
	clear := func() {
		s.must(call{Verb: "key", Keysym: keysymControlL, Down: true})
		s.must(call{Verb: "tap", Text: "a"})
		s.must(call{Verb: "key", Keysym: keysymControlL})
		s.must(call{Verb: "key", Keysym: 0xff08, Down: true})
		s.must(call{Verb: "key", Keysym: 0xff08})
	}
	show("start")
	shot("a")
	t0 := time.Now()
	a := s.must(call{Verb: "text", Text: "Pä€中🙂@~^`ñ"})
	t.Log(a.Way, time.Since(t0))
	show("text")
	clear()
	show("clear")
	a = s.must(call{Verb: "text", Text: "Pä€中🙂@~^`ñ", Typed: true})
	t.Log(a.Way)
	show("typed")
	clear()
	s.must(call{Verb: "tap", Text: "abcXYZ0189!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ end"})
	show("tap")
	clear()
	s.must(call{Verb: "tap", Text: "äöüßÄÖÜ€αβγδεζηθικλμνξοπρστυφχψωабвгдежзийклмнопрстуфхцчшщъыьэюя中文字"})
	show("ring")
	clear()
	for range 3 {
		s.must(call{Verb: "key", Keysym: 'q', Down: true})
	}
	s.must(call{Verb: "key", Keysym: 'q'})
	show("repeat")
	n, _ := e.now()
	t.Log(n.Keys[len(n.Keys)-5:])
	clear()
	s.must(call{Verb: "key", Keysym: 'w', Down: true})
	time.Sleep(1500 * time.Millisecond)
	show("held")
	s.must(call{Verb: "key", Keysym: 'w'})
	for _, size := range [][2]int{{360, 640}, {412, 915}, {1920, 1080}, {2560, 1600}, {240, 240}, {800, 600}} {
		a := s.must(call{Verb: "resize", Width: size[0], Height: size[1]})
		show(fmt.Sprint(a.Width, a.Height))
		shot(fmt.Sprint(size[0]))
	}
	t.Log(output(t, s.client(d, "sh", "-c", "xwininfo -root -tree | grep -i chrom")))
	// paste with nothing to take it
	output(t, s.client(d, "xdotool", "mousemove", "400", "400", "click", "1"))
	show("blur")
	t0 = time.Now()
	a = s.must(call{Verb: "text", Text: "zz"})
	t.Log(a.Way, time.Since(t0))
	show("nofield")
	t.Log(output(t, s.client(d, "sh", "-c", "xdotool search --onlyvisible --class chromium getwindowname")))
	output(t, s.client(d, "xdotool", "mousemove", "30", "200"))
	shot("b")
}
