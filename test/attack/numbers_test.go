//go:build !long

package attack_test

// rounds is how often the service is killed among the redeemers of one link; the tag long has more.
const rounds = 3
