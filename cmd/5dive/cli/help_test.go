package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestExamples runs the example that `help VERB` shows, as a shell would.
func TestExamples(t *testing.T) {
	for _, v := range verbs() {
		if v.hidden {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			dir := newSeat(t)
			t.Setenv("DISPLAY", "")
			help, err := exec.Command("5dive", "browser", "help", v.name).Output()
			if err != nil {
				t.Fatal(err)
			}
			_, example, ok := strings.Cut(string(help), "\nexample:\n  ")
			if !ok || strings.Count(example, "\n") != 1 {
				t.Fatalf("not one example: %s", help)
			}
			if err := os.WriteFile(filepath.Join(dir, "nonce"), []byte(nonce+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("bash", "-c", example)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", example, err, out)
			}
		})
	}
}

// TestDocs holds docs/cli.md against the table of verbs and the golden answers: every verb, flag and JSON field stands there.
func TestDocs(t *testing.T) {
	b, err := os.ReadFile("../../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, v := range verbs() {
		if v.hidden {
			continue
		}
		_, section, ok := strings.Cut(page, "\n### "+strings.TrimSpace(v.name+" "+v.args)+"\n")
		if !ok {
			t.Errorf("docs/cli.md has no section of %s", v.name)
			continue
		}
		section, _, _ = strings.Cut(section, "\n### ")
		for _, f := range v.flags {
			if !strings.Contains(section, "`"+f.typed()+"`") {
				t.Errorf("docs/cli.md does not tell of %s %s", v.name, f.typed())
			}
		}
		for _, field := range goldenFields(t, v.name) {
			if !strings.Contains(section, "`"+field+"`") {
				t.Errorf("docs/cli.md does not tell of the field %s of %s", field, v.name)
			}
		}
	}
}

// goldenFields are all names of fields in the golden answers of a verb.
func goldenFields(t *testing.T, verb string) (fields []string) {
	t.Helper()
	names := map[string][]string{"serve": {"serve", "stop"}, "auth": {"viewer", "auth-window"}, "profile": {"profile-rm"}}[verb]
	if names == nil {
		names = []string{verb}
	}
	for _, name := range names {
		b, err := os.ReadFile("testdata/golden/" + name + ".json")
		if os.IsNotExist(err) {
			continue // no answer in JSON
		}
		var v any
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatal(err)
		}
		fields = append(fields, fieldNames(v)...)
	}
	return fields
}

func fieldNames(v any) (names []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			names = append(append(names, name), fieldNames(value)...)
		}
	case []any:
		for _, value := range v {
			names = append(names, fieldNames(value)...)
		}
	}
	return names
}
