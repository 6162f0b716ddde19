package serve

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/seat"
	"github.com/5dive/browser/serve/api"
)

// TestListTellsBadFromGood: each bad profile is a row with its reason, in order of their names, and no other is hidden. What lies deep in a
// profile is not looked at.
func TestListTellsBadFromGood(t *testing.T) {
	s, site := stored(t)
	dir := s.config.Seat.Dir()
	stamps := filepath.Join(s.config.Seat.State(), "stamps")
	for _, step := range []func() error{
		func() error { return s.config.Seat.Make(seat.Site{Host: "z.com"}) },
		func() error { return s.config.Seat.Make(seat.Site{Host: "stamped.com"}) },
		func() error { return s.config.Seat.Make(seat.Site{Host: "a.com"}) },
		func() error { return s.config.Seat.Make(seat.Site{Host: "open.com"}) },
		func() error { return os.Chmod(filepath.Join(dir, "open.com"), 0o755) },
		func() error { return os.WriteFile(filepath.Join(dir, "file.com"), nil, 0o600) },
		func() error { return os.Symlink("a.com", filepath.Join(dir, "link.com")) },
		func() error { return os.Symlink("/etc", filepath.Join(s.config.Seat.Chrome(site), "link")) },
		func() error {
			return s.config.Seat.SetStamp(seat.Site{Host: "z.com"}, seat.Stamp{Verdict: "authenticated"})
		},
		func() error {
			return os.WriteFile(filepath.Join(stamps, "stamped.com"), []byte("{\n\"verdict\": 3}"), 0o600)
		},
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	for id, kind := range map[string]fault.Kind{"a.com": "", "example.com": fault.Denied, "open.com": fault.Denied, "gone.com": fault.Usage, "A.com": fault.Usage} {
		if _, refusal := ask(s.handler(RoleSeat), http.MethodPost, api.PathList, `{"site":"`+id+`"}`); (refusal == nil) != (kind == "") || refusal != nil && refusal.Code != string(kind) {
			t.Errorf("%s alone: %+v", id, refusal)
		}
	}
	rec := httptest.NewRecorder()
	s.handler(RoleSeat).ServeHTTP(rec, httptest.NewRequest(http.MethodPost, api.PathList, strings.NewReader("{}")))
	var line api.Line
	var list api.ListResult
	if err := json.Unmarshal(rec.Body.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if line.Error != nil {
		t.Fatalf("refused: %+v", line.Error)
	}
	if err := json.Unmarshal(line.Result, &list); err != nil {
		t.Fatal(err)
	}
	want := []struct{ site, bad, words string }{
		{"a.com", "", ""}, {"example.com", "", ""}, {"file.com", string(fault.Denied), "not a directory"}, {"link.com", string(fault.Denied), "a symbolic link"},
		{"open.com", string(fault.Denied), "mode is 0755"}, {"stamped.com", string(fault.Config), "stamped.com:2:12: /verdict: want string, have number"}, {"z.com", "", ""},
	}
	if len(list.Profiles) != len(want) {
		t.Fatalf("have %+v", list.Profiles)
	}
	for i, row := range list.Profiles {
		bad := row.Bad
		if bad == nil {
			bad = &api.Error{}
		}
		if row.Site != want[i].site || bad.Code != want[i].bad || !strings.Contains(bad.Message, want[i].words) {
			t.Errorf("row %d: %+v, %+v, want %+v", i, row, bad, want[i])
		}
	}
	if list.Profiles[6].State != "authenticated" || list.Profiles[4].State != unsound {
		t.Errorf("states: %+v", list.Profiles)
	}
}
