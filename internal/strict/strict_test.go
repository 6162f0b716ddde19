package strict

import (
	"strings"
	"testing"

	"github.com/5dive/browser/internal/fault"
)

type sample struct {
	Zone string `json:"zone"`
	Size struct {
		Width int `json:"width"`
	} `json:"size"`
}

func TestDecode(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"good", `{"zone": "UTC", "size": {"width": 3}}`, ""},
		{"empty object", `{}`, ""},
		{"unknown", "{\n  \"zone\": \"UTC\",\n  \"zome\": 1}", `f.json:3:3: /zome: unknown object member name`},
		{"unknown below", "{\"size\":\n{\"height\": 1}}", `f.json:2:2: /size/height: unknown object member name`},
		{"wrong case", `{"Zone": "UTC"}`, `f.json:1:2: /Zone: unknown object member name`},
		{"doubled", "{\"zone\": \"a\",\n\"zone\": \"b\"}", `f.json:2:1: /zone: duplicate object member name`},
		{"type", "{\n\"size\": {\"width\": \"3\"}}", `f.json:2:19: /size/width: want int, have string`},
		{"comma", "{\"zone\": \"a\",\n}", `f.json:1:13: `},
		{"second value", "{}\n{}", `f.json:2:1: invalid character '{' after top-level value`},
		{"empty file", "", `f.json:1:1: unexpected EOF`},
		{"array", "[]", `f.json:1:1: want an object, have array`},
		{"null", "null", `f.json:1:1: want an object, have null`},
		{"garbage", "\x00\xffgarbage", `f.json:1:1: want an object, have no JSON`},
		{"end of an array", "]", `f.json:1:1: want an object, have no JSON`},
		{"number", " 3", `f.json:1:1: want an object, have number`},
		{"not UTF-8", "{\"zone\": \"\xff\"}", `f.json:1:11: /zone: invalid UTF-8`},
	} {
		t.Run(row.name, func(t *testing.T) {
			var into sample
			err := Decode("f.json", []byte(row.text), &into)
			if row.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if fault.Of(err) != fault.Config || !strings.HasPrefix(err.Error(), row.want) {
				t.Fatalf("have %v (%s), want %q...", err, fault.Of(err), row.want)
			}
		})
	}
}

func TestDecodeOpen(t *testing.T) {
	var into sample
	if err := DecodeOpen("f.json", []byte(`{"newer": [1], "zone": "UTC"}`), &into); err != nil || into.Zone != "UTC" {
		t.Errorf("%+v, %v", into, err)
	}
	if err := DecodeOpen("f.json", []byte(`{"zone": 1}`), &into); fault.Of(err) != fault.Config {
		t.Errorf("have %v", err)
	}
}

func TestRefuseFindsTheValue(t *testing.T) {
	text := []byte("{\n  \"zone\": \"UTC\",\n  \"size\": {\"width\":   3}\n}")
	for pointer, want := range map[string]string{
		"/zone": "f.json:2:11: /zone: no", "/size": "f.json:3:11: /size: no", "/size/width": "f.json:3:23: /size/width: no", "/none": "f.json:1:1: /none: no",
	} {
		if err := Refuse("f.json", text, pointer, "no"); err.Error() != want {
			t.Errorf("have %q, want %q", err, want)
		}
	}
}
