// Package attack_test is the attack table of the product: each row of the threat model that needs no systemd (docs/threat-model.md), with the
// test that shows it, and the attacks on a seat that is really in use: a profile served, a view open, a password typed. The attacker is a
// real second user of the machine, who has no right that the seat did not give him; root and the seat itself are the positive controls.
//
// It owns no rule. What a package's own tests show is named in the table and not written twice.
package attack_test

import (
	"testing"

	"github.com/5dive/browser/test/scene"
)

func TestMain(m *testing.M) {
	scene.Main(m, map[string]scene.Role{
		"intrude": intrudeRole, "watch": watchRole, "segments": segmentsRole, "catch": catchRole, "silent": silentRole,
		"seatd": scene.Seatd,
	})
}
