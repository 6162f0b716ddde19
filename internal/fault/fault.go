// Package fault is the one error table of the product: a kind of refusal decides the exit code of a verb and the
// HTTP status on a seat's socket, so that no caller ever reads an error text to learn what happened.
//
// An Error says what could not be done (lower case, "cannot VERB THING: cause") and, where the person can do
// something, the one command to try. It never holds a secret.
package fault

import (
	"errors"
	"fmt"
	"net/http"
)

// Kind is a class of refusal. The zero Kind is not valid; an error without a Kind counts as Failed.
type Kind string

// The kinds, in the order of their exit codes (docs/terms.md).
const (
	Failed     Kind = "failed"      // tried, and it did not work
	Usage      Kind = "usage"       // wrong words
	Expired    Kind = "expired"     // session expired: a person must log in
	Challenge  Kind = "challenge"   // the site asks for a person
	Missing    Kind = "missing"     // the box lacks a package or a running service
	NothingRan Kind = "nothing_ran" // an executor refused before its first step
	Busy       Kind = "busy"        // a person is at the viewer, or another holder has the profile
	Unknown    Kind = "unknown"     // the session could not be verified
	Denied     Kind = "denied"      // the audit failed, or the caller may not
	Config     Kind = "config"      // configuration or adapter is wrong
)

var table = map[Kind]struct{ exit, status int }{
	Failed:     {1, http.StatusUnprocessableEntity},
	Usage:      {2, http.StatusBadRequest},
	Expired:    {3, http.StatusConflict},
	Challenge:  {4, http.StatusConflict},
	Missing:    {69, http.StatusServiceUnavailable},
	NothingRan: {70, http.StatusFailedDependency},
	Busy:       {75, http.StatusLocked},
	Unknown:    {76, http.StatusConflict},
	Denied:     {77, http.StatusForbidden},
	Config:     {78, http.StatusInternalServerError},
}

// Exit is the exit code of a verb that ends with this kind.
func (k Kind) Exit() int {
	if row, ok := table[k]; ok {
		return row.exit
	}
	return 1
}

// Status is the HTTP status of a call that ends with this kind.
func (k Kind) Status() int {
	if row, ok := table[k]; ok {
		return row.status
	}
	return http.StatusUnprocessableEntity
}

// Valid tells whether k stands in the table; a kind that comes over the wire is checked with it.
func (k Kind) Valid() bool { _, ok := table[k]; return ok }

// Error is one refusal.
type Error struct {
	Kind Kind
	What string // one line, no secret
	Hint string // one command, or empty
	Err  error  // the cause, for errors.Is; its text already stands in What where a caller may see it
}

func (e *Error) Error() string { return e.What }
func (e *Error) Unwrap() error { return e.Err }

// New makes an Error; a %w in format becomes its cause.
func New(kind Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, What: err.Error(), Err: errors.Unwrap(err)}
}

// Try sets the hint and returns e.
func (e *Error) Try(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Of is the kind of err: that of the first Error in its chain, Failed for any other error, "" for nil.
func Of(err error) Kind {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Failed
}

// Hint is the hint of the first Error in the chain, or "".
func Hint(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Hint
	}
	return ""
}
