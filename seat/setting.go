package seat

import (
	"encoding/json"
	"strings"

	"github.com/5dive/browser/internal/fault"
)

// setting is one key of settings.json, where its value lies, and what a value other than "" must be.
type setting struct {
	key   string
	value *string
	valid func(string) bool
	want  string
}

// list is every setting in the order in which it is shown.
func (v *Settings) list() []setting {
	return []setting{
		{"time_zone", &v.TimeZone, validZone, "no such time zone, want a name such as Europe/Berlin"},
		{"locale", &v.Locale, localeForm.MatchString, "not a locale, want a form such as de-DE"},
		{"chrome", &v.Chrome, validChrome, "want a name such as chromium or a clean absolute path"},
		{"vnc", &v.VNC, validVNC, "want tigervnc or x11vnc"},
	}
}

// SettingKeys names every setting.
func SettingKeys() (keys []string) {
	for _, s := range new(Settings).list() {
		keys = append(keys, s.key)
	}
	return keys
}

// Get is the value of a setting; "" is the box's default, and that of a key that there is not.
func (v Settings) Get(key string) string {
	for _, s := range v.list() {
		if s.key == key {
			return *s.value
		}
	}
	return ""
}

// Set changes one value; "" is the default. A key that there is not, or a value that it cannot have, is fault.Usage.
func (v *Settings) Set(key, value string) error {
	for _, s := range v.list() {
		if s.key != key {
			continue
		}
		if value != "" && !s.valid(value) {
			return fault.New(fault.Usage, "cannot change setting %s: %s", key, s.want)
		}
		*s.value = value
		return nil
	}
	return fault.New(fault.Usage, "cannot change setting %.40q: there is no such key, want one of %s", key, strings.Join(SettingKeys(), ", "))
}

// SetSettings replaces settings.json, as the seat. It decodes what it is about to write as Settings would: a refusal
// (fault.Config, or Denied of the audit) writes nothing.
func (s Seat) SetSettings(v Settings) error {
	if err := s.mine(); err != nil {
		return err
	}
	if err := s.Audit(); err != nil {
		return err
	}
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fault.New(fault.Failed, "cannot write %s: %w", settingsName, err)
	}
	data = append(data, '\n')
	if _, err := decodeSettings("new "+settingsName, data); err != nil {
		return err
	}
	return s.replace(data, settingsName)
}
