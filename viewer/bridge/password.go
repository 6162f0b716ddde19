package bridge

import (
	"crypto/des"
	"crypto/rand"
	"crypto/subtle"
	"math/bits"

	"github.com/5dive/browser/internal/secret"
)

// tries is how many passwords one connection may show.
const tries = 3

// challenge is the 16 random bytes of VNC authentication (RFC 6143, 7.2.2).
func challenge() (c [16]byte) {
	rand.Read(c[:]) // never fails
	return c
}

// answered tells whether response is the challenge encrypted with the password.
func answered(challenge, response [16]byte, password secret.Text) bool {
	want := respond(challenge, password)
	return !password.Empty() && subtle.ConstantTimeCompare(want[:], response[:]) == 1
}

// respond encrypts the challenge as VNC does: DES, two blocks, the key being the first 8 bytes of the password padded with
// zeros, each byte with its bits in reverse (a slip of the first VNC that every implementation keeps). It is a formality:
// the password is random, short-lived and never crosses the box's edge.
func respond(challenge [16]byte, password secret.Text) (response [16]byte) {
	var key [8]byte
	copy(key[:], password.Reveal())
	for i, b := range key {
		key[i] = bits.Reverse8(b)
	}
	block, err := des.NewCipher(key[:])
	if err != nil {
		panic("bridge: an 8 byte DES key was refused: " + err.Error())
	}
	block.Encrypt(response[:8], challenge[:8])
	block.Encrypt(response[8:], challenge[8:])
	return response
}
