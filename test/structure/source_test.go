package structure

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestPackageComments(t *testing.T) {
	for _, p := range packages(t) {
		files := p.GoFiles
		if len(files) == 0 { // tests alone
			files = slices.Concat(p.TestGoFiles, p.XTestGoFiles)
		}
		said := slices.ContainsFunc(files, func(name string) bool {
			return strings.TrimSpace(load(t, filepath.Join(p.Dir, name)).Doc.Text()) != ""
		})
		if !said {
			t.Errorf("%s has no package comment", p.name())
		}
	}
}

// TestNoSleep: what can be observed is waited for, not slept for. Tests of the product, and the programs that play a slow line or a
// person, may.
func TestNoSleep(t *testing.T) {
	for _, p := range packages(t) {
		if strings.HasPrefix(p.name(), "test/") {
			continue
		}
		for _, name := range p.GoFiles {
			ast.Inspect(load(t, filepath.Join(p.Dir, name)), func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Sleep" && named(s.X, "time") {
					t.Errorf("%s/%s calls time.Sleep", p.name(), name)
				}
				return true
			})
		}
	}
}

func named(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

func load(t *testing.T, path string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// machine is what belongs to somebody's machine: his working directory, his module cache, his mirror of a registry. It is written in
// pieces so that this file does not match itself.
var machine = regexp.MustCompile(`(?:^|[\s"'=(:` + "`" + `])/(?:wo` + `rk|root/go)(?:/|\b)` +
	`|registry\.npm` + `js\.org|artifac` + `tory|verdac` + `cio|[a-z0-9-]+\.jf` + `rog\.|nexus[.0-9a-z-]*/repos` + `itory`)

func TestNoMachineInFiles(t *testing.T) {
	for _, name := range tracked(t) {
		text, err := os.ReadFile(filepath.Join(top, name))
		if os.IsNotExist(err) {
			continue // removed, not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		if bytes.IndexByte(text, 0) >= 0 {
			continue
		}
		if found := machine.Find(text); found != nil {
			t.Errorf("%s names somebody's machine or registry: %q", name, found)
		}
	}
}

func TestMachinePatternMatches(t *testing.T) {
	for _, s := range []string{"cd /wo" + "rk/x", `"/wo` + `rk"`, "https://registry.npm" + "js.org/x", "/root/g" + "o/pkg"} {
		if !machine.MatchString(s) {
			t.Errorf("%q passes", s)
		}
	}
	for _, s := range []string{"/workspace", "frame/work/x", "https://example.com/work"} {
		if machine.MatchString(s) {
			t.Errorf("%q is refused", s)
		}
	}
}

// TestLockNamesNoHost: a resolved address in the lock file is the mirror of whoever ran npm; the integrity hash is what counts.
func TestLockNamesNoHost(t *testing.T) {
	for _, name := range tracked(t) {
		if filepath.Base(name) == ".npmrc" {
			t.Errorf("%s: a registry is the machine's choice", name)
		}
		if filepath.Base(name) != "package-lock.json" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(top, name))
		if err != nil {
			t.Fatal(err)
		}
		var lock struct {
			Packages map[string]struct{ Version, Resolved, Integrity string }
		}
		if err := json.Unmarshal(text, &lock); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for path, p := range lock.Packages {
			if p.Resolved != "" || path != "" && p.Integrity == "" {
				t.Errorf("%s: %s has resolved %q, integrity %q", name, path, p.Resolved, p.Integrity)
			}
		}
	}
}

func tracked(t *testing.T) []string {
	t.Helper()
	watch(t)
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = top
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v: %s", err, detail(err))
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
}
