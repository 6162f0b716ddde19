package display

import (
	"os"
	"testing"
	"time"
)

func TestExplore2(t *testing.T) {
	s := newSeat(t)
	e := newEcho(t)
	d := s.must(call{Verb: "start"})
	s.chrome(d, e.site.URL+"/echo.html")
	e.await("focus", func(n told) bool { return n.Focus == "field" })
	shot := func(n string) {
		output(t, s.client(d, "import", "-window", "root", s.user.Home+"/x.png"))
		b, _ := os.ReadFile(s.user.Home + "/x.png")
		os.WriteFile("/tmp/dx/"+n+".png", b, 0o644)
	}
	time.Sleep(2 * time.Second)
	output(t, s.client(d, "xdotool", "mousemove", "30", "184", "click", "1"))
	time.Sleep(3 * time.Second)
	shot("popup")
	t.Log(output(t, s.client(d, "sh", "-c", "for w in $(xdotool search --onlyvisible --class chromium); do xprop -id $w WM_WINDOW_ROLE _MOTIF_WM_HINTS _NET_WM_WINDOW_TYPE WM_NORMAL_HINTS; done")))
	output(t, s.client(d, "xdotool", "mousemove", "100", "700", "click", "3"))
	time.Sleep(1 * time.Second)
	shot("popup2")
}
