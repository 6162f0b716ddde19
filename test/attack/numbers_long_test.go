//go:build long

package attack_test

const rounds = 30
