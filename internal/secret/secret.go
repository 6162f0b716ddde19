// Package secret holds values that must never be shown: every way of printing one gives "[redacted]". The bytes
// leave only by Reveal, which is what a reviewer searches for.
package secret

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
)

const shown = "[redacted]"

// Text is a secret string: a nonce, a password, what a person types. The zero value is the empty secret.
// It is safe for concurrent use.
type Text struct{ value string }

// New wraps a value.
func New(value string) Text { return Text{value} }

// Random is a fresh secret of n random bytes, in lower-case hex.
func Random(n int) Text {
	b := make([]byte, n)
	rand.Read(b) // never fails (crypto/rand, Go 1.24)
	return Text{hex.EncodeToString(b)}
}

// Reveal hands out the value. Call it only where the value leaves for its one destination.
func (t Text) Reveal() string { return t.value }

// Empty tells whether there is a value.
func (t Text) Empty() bool { return t.value == "" }

func (t Text) String() string               { return shown }
func (t Text) GoString() string             { return shown }
func (t Text) Format(f fmt.State, _ rune)   { fmt.Fprint(f, shown) }
func (t Text) LogValue() slog.Value         { return slog.StringValue(shown) }
func (t Text) MarshalJSON() ([]byte, error) { return []byte(`"` + shown + `"`), nil }
func (t Text) MarshalText() ([]byte, error) { return []byte(shown), nil }
