package view_test

import (
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/5dive/browser/test/line"
	"github.com/5dive/browser/test/site"
)

func kill(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }

// seen is the number of the frame of /busy that the viewer shows: 24 cells of its top left corner, white is 1.
const seen = `(() => {
	const c = document.querySelector("#screen canvas"), g = c.getContext("2d"), top = %d;
	let n = 0;
	for (let bit = 0; bit < 24; bit++) n = n * 2 + (g.getImageData(bit * 16 + 8, top + 8, 1, 1).data[1] > 127 ? 1 : 0);
	return n;
})()`

// slow is case V05: behind a line of 40 kB/s a page that changes wholly with each frame is shown in jumps, never as an ever older film, and
// what the person presses does not wait behind pictures.
func slow(desktop *guest) {
	p, l := desktop.g.afar(desktop.t)
	l.Set(line.Shape{ToClient: 40000})
	p.enter(p.g.mint(p.t).Link)
	p.visit("/busy")
	e, _ := p.g.about("/busy")
	top := e.Number("outerHeight") - e.Number("height")
	const presses = 22 // a second apart; the first half is what the line needs to become empty
	var late []time.Duration
	var behind []float64
	for i := range presses {
		select {
		case <-time.After(time.Second):
		case <-p.t.Context().Done():
			return
		}
		letter := string(rune('a' + i))
		pressed := time.Now()
		p.must(p.Type(letter))
		shown := eval[int](p, fmt.Sprintf(seen, top))
		p.must(p.g.site.Wait(soon(p.t), "a key on /busy", func() bool { _, ok := p.pressed(letter); return ok }))
		when, frame := p.frame(letter)
		late = append(late, when.Sub(pressed))
		if i >= presses/2 {
			behind = append(behind, float64(frame-shown))
		}
	}
	first, begun := p.frame("a")
	last, ended := p.frame(string(rune('a' + presses - 1)))
	rate := float64(ended-begun) / last.Sub(first).Seconds()
	slices.Sort(late)
	slices.Sort(behind)
	age := behind[len(behind)/2] / rate
	p.t.Logf("a key takes %v (median) and %v (longest); the picture is %.1f s old, the page draws %.0f frames a second", late[len(late)/2].Round(time.Millisecond),
		late[len(late)-1].Round(time.Millisecond), age, rate)
	p.shot("slow")
	if late[len(late)/2] > 2*time.Second {
		p.t.Errorf("a key takes %v through a slow line", late[len(late)/2])
	}
	if age > 20 || age < -1 { // TestSlowViewerCoarser is the exact one; a frame alone takes seconds
		p.t.Errorf("the picture is %.1f s old", age)
	}
	l.Set(line.Shape{})
	p.visit("/type") // with the keys of a good line
	p.works("after a slow line")
}

// pressed is the event of a key that the page saw.
func (p *guest) pressed(key string) (i int, ok bool) {
	i = slices.IndexFunc(p.g.site.Events(), func(e site.Event) bool { return e.Page == "/busy" && e.Kind == "key" && e.Text("key") == key })
	return i, i >= 0
}

// frame is when the page saw a key, and which frame it had drawn by then.
func (p *guest) frame(key string) (time.Time, int) {
	i, _ := p.pressed(key)
	e := p.g.site.Events()[i]
	return e.At, e.Number("frame")
}
