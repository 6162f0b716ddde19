package site

import (
	"bytes"
	"encoding/json"
	"html/template"
	"net/http"
	"regexp"
	"time"
)

var pageNames = map[string]bool{
	"/": true, "/login": true, "/account": true, "/popup": true, "/consent": true, "/select": true, "/dialog": true,
	"/beforeunload": true, "/type": true, "/busy": true, "/tabs": true, "/download": true, "/colour": true,
}

func (s *Site) page(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { s.render(w, name, nil) }
}

func (s *Site) render(w http.ResponseWriter, name string, data any) {
	var body bytes.Buffer
	if err := s.pages.ExecuteTemplate(&body, name+".html", data); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	body.WriteTo(w)
}

var hexColour = regexp.MustCompile(`^[0-9A-Fa-f]{6}$`)

func (s *Site) colour(w http.ResponseWriter, r *http.Request) {
	c := r.URL.Query().Get("c")
	if !hexColour.MatchString(c) {
		http.Error(w, "c must be six hexadecimal digits", http.StatusBadRequest)
		return
	}
	s.render(w, "colour", map[string]any{"Hex": c, "CSS": template.CSS("#" + c)})
}

// message is what report.js posts: a field's value, or an event.
type message struct {
	Page   string         `json:"page"`
	Kind   string         `json:"kind"`
	At     float64        `json:"at"` // milliseconds since 1970, with fractions
	Detail map[string]any `json:"detail"`
}

// reportLimit holds a pasted megabyte, escaped.
const reportLimit = 8 << 20

func (s *Site) report(w http.ResponseWriter, r *http.Request) {
	var list []message
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, reportLimit)).Decode(&list); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for _, m := range list {
		s.note(m)
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *Site) note(m message) {
	e := Event{Time: time.Now(), At: time.UnixMicro(int64(m.At * 1000)), Page: m.Page, Kind: m.Kind, Detail: m.Detail}
	if m.Kind == "field" {
		s.log.field(e.Text("name"), e.Text("value"))
		return
	}
	s.log.event(e)
}

// logJSON is the log for a witness in another process.
func (s *Site) logJSON(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{
		"requests": s.Requests(), "logins": s.Logins(), "events": s.Events(), "fields": s.Fields(),
	})
}

// slow is a download that never ends: a running download keeps a browser from closing until a person answers.
func slow(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="slow.bin"`)
	w.Header().Set("Content-Length", "1073741824")
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for block := make([]byte, 4096); ; {
		if _, err := w.Write(block); err != nil {
			return
		}
		http.NewResponseController(w).Flush()
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}
