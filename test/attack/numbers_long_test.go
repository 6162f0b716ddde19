//go:build e2e && long

package attack_test

const rounds = 30
