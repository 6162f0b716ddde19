package structure

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/5dive/browser/internal/fault"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// documents are the Markdown files of the tree.
func documents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range tracked(t) {
		if strings.HasSuffix(name, ".md") {
			all[name] = read(t, name)
		}
	}
	return all
}

var link = regexp.MustCompile(`\]\(([^)\s#]+)(?:#[^)]*)?\)`)

func TestLinksLeadSomewhere(t *testing.T) {
	for name, text := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(top, filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			}
		}
	}
}

var (
	quoted  = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z][A-Za-z0-9]*\b`)
	defined = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9_]+)\(`)
)

// TestNamedTestsExist: a document that says which test shows something must not outlive that test.
func TestNamedTestsExist(t *testing.T) {
	there := map[string]bool{}
	for _, name := range tracked(t) {
		if strings.HasSuffix(name, "_test.go") {
			text, _ := os.ReadFile(filepath.Join(top, name)) // one that was removed defines nothing
			for _, m := range defined.FindAllStringSubmatch(string(text), -1) {
				there[m[1]] = true
			}
		}
	}
	for name, text := range documents(t) {
		for _, test := range quoted.FindAllString(text, -1) {
			if !there[test] {
				t.Errorf("%s names %s, which is no test", name, test)
			}
		}
	}
}

// TestThreatsAreShown: every row of the table of attacks names what shows it.
func TestThreatsAreShown(t *testing.T) {
	_, table, _ := strings.Cut(read(t, "docs/threat-model.md"), "\n## The table\n")
	rows := 0
	for line := range strings.Lines(table) {
		cells := cut(line)
		if len(cells) != 3 || cells[0] == "row" || strings.Trim(cells[0], "-") == "" {
			continue
		}
		if rows++; !quoted.MatchString(cells[2]) {
			t.Errorf("row %s (%s) names no test", cells[0], cells[1])
		}
	}
	if rows < 30 {
		t.Errorf("the table has %d rows", rows)
	}
}

// TestExitTable holds docs/terms.md to package fault, both ways.
func TestExitTable(t *testing.T) {
	kinds := regexp.MustCompile(`(?m)^\s+\w+\s+Kind = "(\w+)"`).FindAllStringSubmatch(read(t, "internal/fault/fault.go"), -1)
	if len(kinds) == 0 {
		t.Fatal("package fault has no kinds")
	}
	told := map[string]bool{}
	for line := range strings.Lines(read(t, "docs/terms.md")) {
		cells := cut(line)
		if len(cells) != 4 {
			continue
		}
		exit, err := strconv.Atoi(cells[0])
		kind := fault.Kind(strings.Trim(cells[1], "`"))
		if err != nil || !kind.Valid() {
			continue
		}
		told[string(kind)] = true
		if status, _ := strconv.Atoi(cells[2]); exit != kind.Exit() || status != kind.Status() {
			t.Errorf("docs/terms.md: %s is %d and %d, want %d and %d", kind, exit, status, kind.Exit(), kind.Status())
		}
	}
	for _, k := range kinds {
		if !told[k[1]] {
			t.Errorf("docs/terms.md does not tell of %s", k[1])
		}
	}
}

// squeeze makes texts comparable that were wrapped or quoted differently.
func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }

// TestNotice holds NOTICE to what is linked: each module with its version and the text of its licence, and no other.
func TestNotice(t *testing.T) {
	notice := read(t, "NOTICE")
	whole := squeeze(notice)
	for _, m := range linked(t) {
		if !strings.Contains(notice, "\n"+m.Path+" "+m.Version+"\n") {
			t.Errorf("NOTICE does not name %s %s", m.Path, m.Version)
		}
		if !contains(t, whole, m.Dir) {
			t.Errorf("NOTICE does not hold the licence or notice in %s", m.Dir)
		}
	}
	heads := regexp.MustCompile(`(?m)^-{80}\n([a-z]+\.[a-z]+/\S+) v`).FindAllStringSubmatch(notice, -1)
	for _, h := range heads {
		if !strings.Contains("\n"+strings.Join(paths(linked(t)), "\n")+"\n", "\n"+h[1]+"\n") {
			t.Errorf("NOTICE names %s, which is not linked", h[1])
		}
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil || !contains(t, whole, strings.TrimSpace(string(goroot))) {
		t.Error("NOTICE does not hold the licence of Go")
	}
}

// contains looks for the NOTICE of a module, else its licence. Of an Apache-2.0 work the text is our own LICENSE.
func contains(t *testing.T, whole, dir string) bool {
	t.Helper()
	for _, name := range []string{"NOTICE", "LICENSE", "LICENSE.md", "LICENSE.txt"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			return strings.Contains(whole, squeeze(string(text)))
		}
	}
	return false
}

type linkedModule struct {
	Path, Version, Dir string
	Main               bool
}

func paths(all []linkedModule) (list []string) {
	for _, m := range all {
		list = append(list, m.Path)
	}
	return list
}

// linked lists the modules in the binary.
func linked(t *testing.T) []linkedModule {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=Module", "./cmd/5dive")
	cmd.Dir = top
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v: %s", err, detail(err))
	}
	var all []linkedModule
	seen := map[string]bool{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p struct{ Module linkedModule }
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if m := p.Module; m.Path != "" && !m.Main && !seen[m.Path] {
			seen[m.Path] = true
			all = append(all, m)
		}
	}
	return all
}

// TestNoticeOfThePage: what npm puts into the page.
func TestNoticeOfThePage(t *testing.T) {
	var page struct{ Dependencies map[string]string }
	if err := json.Unmarshal([]byte(read(t, "viewer/page/package.json")), &page); err != nil {
		t.Fatal(err)
	}
	if len(page.Dependencies) == 0 {
		t.Fatal("the page has no dependencies")
	}
	notice := read(t, "NOTICE")
	for name, version := range page.Dependencies {
		if !strings.Contains(notice, "\n"+name+" "+version+"\n") {
			t.Errorf("NOTICE does not name %s %s, which is in the page", name, version)
		}
	}
	for _, words := range []string{"Mozilla Public\nLicense 2.0", "by Vitaly Puzrin", "Widget Workshop", "AT&T Laboratories Cambridge", "Jef Poskanzer"} {
		if !strings.Contains(notice, words) {
			t.Errorf("NOTICE lacks %q", words)
		}
	}
	// What a person sees by the page's link "Licences", where the page was built.
	shown, err := os.ReadFile(filepath.Join(top, "viewer/page/dist/assets/licences.txt"))
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("CI") == "" {
		t.Skip("the page is not built")
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"Mozilla Public License", "by Vitaly Puzrin", "Copyright (c) 1996 Widget Workshop", "Copyright (C) 1999 AT&T Laboratories Cambridge",
		"Copyright (C) 1996 by Jef Poskanzer", "SUCH DAMAGE."} {
		if !strings.Contains(string(shown), words) {
			t.Errorf("licences.txt of the page lacks %q", words)
		}
	}
}
