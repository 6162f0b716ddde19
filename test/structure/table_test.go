// Package structure holds the tree to what docs/ says of it: the package table of docs/ARCHITECTURE.md, the notices of what is
// linked, the tests that the documents name, and a few rules that no compiler knows. It runs nothing of the product and trusts
// `go list` and `git ls-files`.
package structure

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "github.com/5dive/browser"
	top    = "../.."
)

// row is one line of the table: a package, or a folder of them where its name ends in /... .
type row struct {
	floor   int // testFloor for tests
	name    string
	imports []string // of the project's own; "*" is anything
	library []string
}

// testFloor is above everything, so that no product code reaches it.
const testFloor = 99

// fences are lines that not even the table may cross: who alone may import a library, and why.
var fences = []struct {
	library string
	allowed []string
	why     string
}{
	{"github.com/chromedp/", []string{"browser"}, "whatever drives Chrome is in one package"},
	{"github.com/gorilla/websocket", []string{"viewer/bridge", "viewer/relay"}, "frames are checked in one place"},
	{"github.com/coreos/go-systemd/", []string{"systemd"}, "what PID 1 hands over is trusted in one place"},
	{"github.com/jezek/xgb", []string{"serve/display"}, "X connections are proved to be ours in one place"},
	{"github.com/urfave/", []string{"cmd/5dive/cli"}, "its ways are cured in one wrapper"},
	{"github.com/rogpeppe/", nil, "it is for tests"},
}

// listed is what go list tells of a package.
type listed struct {
	ImportPath, Dir string
	Imports         []string
	GoFiles         []string
	TestGoFiles     []string
	XTestGoFiles    []string
}

func (p listed) name() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

func packages(t *testing.T) []listed {
	t.Helper()
	watch(t)
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir = top
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v: %s", err, detail(err))
	}
	var all []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// watch opens every folder of the tree, so that go test sees a changed tree and does not answer from its cache: it does not know what
// go list and git look at.
func watch(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(top, func(_ string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() && slices.Contains([]string{".git", "node_modules", "bin"}, entry.Name()) {
			return filepath.SkipDir
		}
		return nil // what goes while we look is no fault
	})
	if err != nil {
		t.Fatal(err)
	}
}

func detail(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(exit.Stderr)
	}
	return ""
}

// table reads the package table.
func table(t *testing.T) []row {
	t.Helper()
	file, err := os.Open(filepath.Join(top, "docs/ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var rows []row
	inside := false
	for lines := bufio.NewScanner(file); lines.Scan(); {
		cells := cut(lines.Text())
		switch {
		case len(cells) == 5 && cells[0] == "floor":
			inside = true
		case inside && len(cells) == 5 && !strings.HasPrefix(cells[0], "--"):
			rows = append(rows, parse(t, cells))
		case inside && len(cells) != 5:
			return rows
		}
	}
	t.Fatal("docs/ARCHITECTURE.md has no package table, or nothing after it")
	return nil
}

// cut gives the cells of a table line.
func cut(line string) []string {
	if !strings.HasPrefix(line, "|") {
		return nil
	}
	cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

func parse(t *testing.T, cells []string) row {
	t.Helper()
	r := row{floor: testFloor, name: cells[1], imports: strings.Fields(cells[3]), library: strings.Fields(cells[4])}
	if cells[0] != "t" {
		var err error
		if r.floor, err = strconv.Atoi(cells[0]); err != nil {
			t.Fatalf("package table: floor %q of %s is no number", cells[0], r.name)
		}
	}
	if cells[2] == "" {
		t.Errorf("package table: %s owns nothing", r.name)
	}
	return r
}

// covers tells whether r is the row of a package.
func (r row) covers(name string) bool {
	if folder, ok := strings.CutSuffix(r.name, "/..."); ok {
		return strings.HasPrefix(name, folder+"/")
	}
	return r.name == name
}

// find is the row of a package: its own before that of its folder.
func find(rows []row, name string) (row, bool) {
	for _, r := range rows {
		if r.name == name {
			return r, true
		}
	}
	for _, r := range rows {
		if r.covers(name) {
			return r, true
		}
	}
	return row{}, false
}

func TestEveryPackageIsListed(t *testing.T) {
	rows, all := table(t), packages(t)
	for _, p := range all {
		if _, ok := find(rows, p.name()); !ok {
			t.Errorf("%s has no row in the package table of docs/ARCHITECTURE.md", p.name())
		}
	}
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[r.name] {
			t.Errorf("%s has two rows", r.name)
		}
		seen[r.name] = true
		if !slices.ContainsFunc(all, func(p listed) bool { return r.covers(p.name()) }) {
			t.Errorf("%s has a row and is no package", r.name)
		}
	}
}

func TestImports(t *testing.T) {
	rows := table(t)
	for _, p := range packages(t) {
		r, ok := find(rows, p.name())
		if !ok {
			continue // told by TestEveryPackageIsListed
		}
		for _, path := range p.Imports {
			if err := r.may(rows, path); err != nil {
				t.Errorf("%s: %v", p.name(), err)
			}
			if err := fenced(r, p.name(), path); err != nil {
				t.Errorf("%s: %v", p.name(), err)
			}
		}
		for _, name := range r.imports {
			if name != "*" && !slices.Contains(p.Imports, module+"/"+name) {
				t.Errorf("%s: its row names %s, which it does not import", p.name(), name)
			}
		}
	}
}

// may judges one import by the table.
func (r row) may(rows []row, path string) error {
	if own, ok := strings.CutPrefix(path, module+"/"); ok {
		to, known := find(rows, own)
		switch {
		case known && to.floor > r.floor:
			return fmt.Errorf("imports %s, which is on a higher floor", own)
		case !slices.Contains(r.imports, "*") && !slices.Contains(r.imports, own):
			return fmt.Errorf("imports %s, which its row does not name", own)
		}
		return nil
	}
	first, _, _ := strings.Cut(path, "/")
	if !strings.Contains(first, ".") || under(path, "golang.org/x/sys") || slices.Contains(r.library, "*") {
		return nil
	}
	if !slices.ContainsFunc(r.library, func(l string) bool { return under(path, l) }) {
		return fmt.Errorf("imports %s, which its row does not name", path)
	}
	return nil
}

func under(path, library string) bool {
	return path == library || strings.HasPrefix(path, strings.TrimSuffix(library, "/")+"/")
}

// fenced judges one import by the fences. Tests may use any library.
func fenced(r row, name, path string) error {
	if r.floor == testFloor {
		return nil
	}
	for _, f := range fences {
		if under(path, f.library) && !slices.Contains(f.allowed, name) {
			return fmt.Errorf("imports %s: %s", path, f.why)
		}
	}
	driver := path == module+"/browser" && (under(name, "mcp") || under(name, "cmd"))
	if driver {
		return errors.New("imports browser: Chrome is started by the seat service and its keeper alone")
	}
	return nil
}

// TestTableIsNotBlind gives the judges what they must refuse.
func TestTableIsNotBlind(t *testing.T) {
	rows := []row{
		{floor: 2, name: "low", library: []string{"github.com/jezek/xgb"}},
		{floor: 3, name: "high", imports: []string{"low"}},
		{floor: testFloor, name: "test/...", imports: []string{"*"}, library: []string{"*"}},
	}
	low, high, tests := rows[0], rows[1], rows[2]
	for _, c := range []struct {
		r    row
		path string
		ok   bool
	}{
		{high, module + "/low", true}, {low, module + "/high", false}, {low, module + "/test/site", false}, {tests, module + "/low", true},
		{high, module + "/other", false}, {low, "github.com/jezek/xgb/xproto", true}, {low, "github.com/jezek/xgbutil", false},
		{high, "github.com/jezek/xgb", false}, {high, "golang.org/x/sys/unix", true}, {high, "net/http", true},
	} {
		if err := c.r.may(rows, c.path); (err == nil) != c.ok {
			t.Errorf("%s imports %s: %v", c.r.name, c.path, err)
		}
	}
	for name, path := range map[string]string{"serve": "github.com/chromedp/chromedp", "cmd/5dive": module + "/browser", "seat": "github.com/gorilla/websocket"} {
		if fenced(row{floor: 2}, name, path) == nil {
			t.Errorf("%s may import %s", name, path)
		}
	}
}
