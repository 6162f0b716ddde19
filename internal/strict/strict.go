// Package strict decodes configuration that a person wrote: JSON (RFC 8259) in which an unknown, doubled or wrongly cased name, a
// value of the wrong type and anything after the value are refusals. Every refusal is a fault.Config of one line that
// begins with file:line:column, so that an editor can jump there. Columns count bytes from 1.
package strict

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/5dive/browser/internal/fault"
)

// Decode decodes data, the contents of file, into the struct that into points at.
func Decode(file string, data []byte, into any) error { return decode(file, data, into, true) }

// DecodeOpen is Decode for a record that we wrote: a name that is not known is left out, since a newer version may have written it.
func DecodeOpen(file string, data []byte, into any) error { return decode(file, data, into, false) }

func decode(file string, data []byte, into any, closed bool) error {
	switch kind := jsontext.Value(data).Kind(); {
	case kind != '{' && name(kind) != "":
		return at(file, data, 0, "want an object, have "+name(kind))
	case kind != '{' && len(bytes.TrimSpace(data)) > 0:
		return at(file, data, 0, "want an object, have no JSON")
	}
	err := json.Unmarshal(data, into, json.RejectUnknownMembers(closed))
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		return at(file, data, syntax.ByteOffset, pointed(syntax.JSONPointer, syntax.Err.Error()))
	case errors.As(err, &semantic):
		return at(file, data, semantic.ByteOffset, pointed(semantic.JSONPointer, meaning(semantic)))
	}
	return fault.New(fault.Config, "cannot read %s: %w", file, err)
}

// Refuse is a fault.Config about the value at a JSON pointer ("/time_zone"), for a check that Decode cannot make.
func Refuse(file string, data []byte, pointer, format string, args ...any) error {
	return at(file, data, offset(data, jsontext.Pointer(pointer)), pointed(jsontext.Pointer(pointer), fmt.Sprintf(format, args...)))
}

func at(file string, data []byte, offset int64, what string) error {
	line, column := place(data, offset)
	return fault.New(fault.Config, "%s:%d:%d: %s", file, line, column, what)
}

func pointed(pointer jsontext.Pointer, what string) string {
	if pointer == "" {
		return what
	}
	return fmt.Sprintf("%s: %s", pointer, what)
}

// meaning says what is wrong in words of JSON, not of Go.
func meaning(err *json.SemanticError) string {
	if err.Err != nil {
		return err.Err.Error()
	}
	if err.GoType != nil && err.JSONKind != 0 {
		return fmt.Sprintf("want %s, have %s", err.GoType.Kind(), name(err.JSONKind))
	}
	return err.Error()
}

// name is a kind in words of JSON, "" for one that is none.
func name(kind jsontext.Kind) string {
	switch kind {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean"
	case '"':
		return "string"
	case '0':
		return "number"
	case '[':
		return "array"
	case '{':
		return "object"
	}
	return ""
}

// place turns a byte offset into a line and a column.
func place(data []byte, offset int64) (line, column int) {
	line, column = 1, 1
	for _, b := range data[:min(offset, int64(len(data)))] {
		column++
		if b == '\n' {
			line, column = line+1, 1
		}
	}
	return line, column
}

// offset finds where the value at pointer begins; 0 if it is not there.
func offset(data []byte, pointer jsontext.Pointer) int64 {
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	for {
		if dec.PeekKind() == 0 {
			return 0 // the end, or a fault that Decode has told
		}
		if _, err := dec.ReadToken(); err != nil {
			return 0
		}
		// After the name of a member the pointer is that of its value, which is read next.
		if dec.StackPointer() == pointer {
			value, err := dec.ReadValue()
			if err != nil {
				return 0
			}
			return dec.InputOffset() - int64(len(value))
		}
	}
}
