package browser

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/5dive/browser/internal/safefile"
)

// preferencesLimit is far above any file that Chrome writes (0.01-2 MB).
const preferencesLimit = 64 << 20

// ours are the preferences that Chrome must find at each start, by dotted name.
var ours = []struct {
	name  string
	value any
}{
	{"session.restore_on_startup", 1}, // the only value with which Chrome keeps cookies that have no expiry
	{"profile.exit_type", "Normal"},   // else a bubble offers to open the old pages
	// Saved passwords are the vault's business, and a bubble over a login page is in the person's way.
	{"credentials_enable_service", false},
	{"credentials_enable_autosignin", false},
	{"profile.password_manager_enabled", false},
	{"profile.password_manager_leak_detection", false},
	// What is typed or pasted into the address bar, perhaps a password, stays on the box.
	{"search.suggest_enabled", false},
	{"alternate_error_pages.enabled", false},
	{"net.network_prediction_options", 2}, // never
	{"spellcheck.use_spelling_service", false},
	{"url_keyed_anonymized_data_collection.enabled", false},
	{"translate.enabled", false},
	// A Google login is one of the site, not of the browser.
	{"signin.allowed_on_next_startup", false},
	{"privacy_sandbox.m1.prompt_suppressed", 1},
	{"browser.check_default_browser", false},
}

// writePreferences merges ours into Default/Preferences and keeps everything else to the byte. A file that is no JSON object is treated as
// Chrome itself treats it, but without its message box: it is kept as Preferences.bad and a new one begun. The cookies are elsewhere and stay.
func writePreferences(profile *safefile.Dir) error {
	text, err := profile.Read("Preferences", preferencesLimit)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = []byte("{}"), nil
	}
	if err != nil {
		return err
	}
	merged, err := merge(text)
	if err != nil {
		if err := profile.Replace("Preferences.bad", text, 0o600); err != nil {
			return err
		}
		merged, _ = merge([]byte("{}"))
	}
	if bytes.Equal(merged, text) {
		return nil
	}
	return profile.Replace("Preferences", merged, 0o600)
}

func merge(text []byte) ([]byte, error) {
	tree, err := object(text)
	if err != nil {
		return nil, err
	}
	for _, p := range ours {
		if err := set(tree, strings.Split(p.name, "."), p.value); err != nil {
			return nil, err
		}
	}
	return encode(tree)
}

// set puts value at path and makes the objects on the way, also in place of something that is none.
func set(tree map[string]json.RawMessage, path []string, value any) (err error) {
	if len(path) == 1 {
		tree[path[0]], err = encode(value)
		return err
	}
	branch, err := object(tree[path[0]])
	if err != nil {
		branch = map[string]json.RawMessage{}
	}
	if err := set(branch, path[1:], value); err != nil {
		return err
	}
	tree[path[0]], err = encode(branch)
	return err
}

func object(text []byte) (map[string]json.RawMessage, error) {
	var tree map[string]json.RawMessage
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	if tree == nil {
		return nil, fmt.Errorf("cannot read preferences: not an object")
	}
	return tree, nil
}

// encode is json.Marshal that leaves <, > and & alone.
func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}
