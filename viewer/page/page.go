// Package page holds the page on which a person uses the browser of a seat: the files of dist/, which `npm run build`
// makes from src/ and from noVNC, and which are embedded in the binary. It owns no behaviour: package relay serves it and
// sets its headers. Without a build the package compiles and holds nothing; Built tells.
package page

import (
	"embed"
	"io/fs"
	"path"
)

//go:embed all:dist
var dist embed.FS

// File is one embedded file. Gzip is the same text compressed, or nil.
type File struct {
	Type string // of Content-Type
	Body []byte
	Gzip []byte
}

var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
	".txt":  "text/plain; charset=utf-8",
}

// Built tells whether the page and noVNC were embedded.
func Built() bool {
	_, index := Files()["index.html"]
	_, script := Files()["assets/page.js"]
	return index && script
}

// Files are the files of the page by their path below dist/ ("index.html", "assets/page.js"). The caller may keep the
// map; it must not change a body.
func Files() map[string]File {
	files := map[string]File{}
	fs.WalkDir(dist, "dist", func(name string, entry fs.DirEntry, err error) error { // an embedded tree has no errors
		kind := types[path.Ext(name)]
		if err != nil || entry.IsDir() || kind == "" {
			return err
		}
		body, _ := dist.ReadFile(name)
		packed, _ := dist.ReadFile(name + ".gz") // absent: nil
		files[name[len("dist/"):]] = File{Type: kind, Body: body, Gzip: packed}
		return nil
	})
	return files
}
