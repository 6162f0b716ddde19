package display

import (
	"sync"
	"time"

	"github.com/5dive/browser/internal/fault"
	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// offer is the CLIPBOARD selection while we own it: one text, for as long as a paste takes.
type offer struct {
	window    xproto.Window
	clipboard xproto.Atom
	targets   xproto.Atom
	texts     map[xproto.Atom]xproto.Atom // by target: the type of the answer

	mu     sync.Mutex
	text   []byte // nil when nothing is offered
	given  []handout
	asked  time.Time // of the last request for anything
	served bool      // the text itself was given at least once
	pulse  pulse
}

// handout is a property of a client's window in which the text stands until the client takes it.
type handout struct {
	window   xproto.Window
	property xproto.Atom
}

// prepare makes the window that owns the selection.
func (o *offer) prepare(l *link) error {
	names := map[string]*xproto.Atom{"CLIPBOARD": &o.clipboard, "TARGETS": &o.targets}
	var utf8, mime xproto.Atom
	names["UTF8_STRING"], names["text/plain;charset=utf-8"] = &utf8, &mime
	for name, atom := range names {
		var err error
		if *atom, err = l.atom(name); err != nil {
			return err
		}
	}
	o.texts = map[xproto.Atom]xproto.Atom{utf8: utf8, mime: mime}
	var err error
	o.window, err = l.hiddenWindow()
	return err
}

// make takes the selection and offers a copy of text.
func (o *offer) make(l *link, text string) error {
	o.mu.Lock()
	o.text, o.served, o.given = []byte(text), false, nil
	o.mu.Unlock()
	if err := xproto.SetSelectionOwnerChecked(l.x, o.window, o.clipboard, xproto.TimeCurrentTime).Check(); err != nil {
		return fault.New(fault.Failed, "cannot take the clipboard: %w", err)
	}
	owner, err := xproto.GetSelectionOwner(l.x, o.clipboard).Reply()
	if err != nil || owner.Owner != o.window {
		return fault.New(fault.Failed, "cannot take the clipboard: another client has it")
	}
	return nil
}

// withdraw gives the selection up and wipes the bytes, here and where a client left them lying.
func (o *offer) withdraw(l *link) {
	o.mu.Lock()
	held := o.text != nil
	clear(o.text)
	given := o.given
	o.text, o.given = nil, nil
	o.mu.Unlock()
	if !held {
		return
	}
	xproto.SetSelectionOwner(l.x, xproto.WindowNone, o.clipboard, xproto.TimeCurrentTime)
	for _, g := range given {
		xproto.DeleteProperty(l.x, g.window, g.property)
	}
	xproto.GetInputFocus(l.x).Reply() // both have happened when this is answered
}

// lost: another client took the selection, a copy in the page for example.
func (o *offer) lost() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.text)
	o.text = nil
	o.pulse.beat()
}

// answer serves one request of a client (ICCCM, 2.2). It runs in the goroutine of the connection.
func (o *offer) answer(l *link, r xproto.SelectionRequestEvent) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r.Property == 0 {
		r.Property = r.Target // an old client
	}
	o.asked = time.Now()
	if !o.put(l, r) {
		r.Property = 0 // refused
	}
	notice := xproto.SelectionNotifyEvent{Time: r.Time, Requestor: r.Requestor, Selection: r.Selection, Target: r.Target, Property: r.Property}
	xproto.SendEvent(l.x, false, r.Requestor, 0, string(notice.Bytes()))
	o.pulse.beat()
}

// put writes the answer into the client's property.
func (o *offer) put(l *link, r xproto.SelectionRequestEvent) bool {
	if o.text == nil || r.Selection != o.clipboard {
		return false
	}
	if r.Target == o.targets {
		atoms := []xproto.Atom{o.targets}
		for target := range o.texts {
			atoms = append(atoms, target)
		}
		b := make([]byte, 4*len(atoms))
		for i, atom := range atoms {
			xgb.Put32(b[4*i:], uint32(atom))
		}
		xproto.ChangeProperty(l.x, xproto.PropModeReplace, r.Requestor, r.Property, xproto.AtomAtom, 32, uint32(len(atoms)), b)
		return true
	}
	kind, ok := o.texts[r.Target]
	if !ok {
		return false
	}
	xproto.ChangeProperty(l.x, xproto.PropModeReplace, r.Requestor, r.Property, kind, 8, uint32(len(o.text)), o.text)
	o.given = append(o.given, handout{r.Requestor, r.Property})
	o.served = true
	return true
}
