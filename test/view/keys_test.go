package view_test

import "github.com/5dive/browser/test/person"

const (
	ctrl = person.Ctrl
	alt  = person.Alt
)

var (
	keyL      = person.Key{Name: "l", Code: "KeyL", Virtual: 76}
	keyA      = person.Key{Name: "a", Code: "KeyA", Virtual: 65}
	keyDelete = person.Key{Name: "Delete", Code: "Delete", Virtual: 46}
	keyDown   = person.Key{Name: "ArrowDown", Code: "ArrowDown", Virtual: 40}
	keyEscape = person.Key{Name: "Escape", Code: "Escape", Virtual: 27}
)
