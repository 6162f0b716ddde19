package seat

import (
	"encoding/json"
	"strings"

	"github.com/5dive/browser/internal/fault"
)

// setting is one key of settings.json and where its value lies.
type setting struct {
	key   string
	value *string
}

// list is every setting in the order in which it is shown.
func (v *Settings) list() []setting {
	return []setting{{"time_zone", &v.TimeZone}, {"locale", &v.Locale}, {"chrome", &v.Chrome}, {"vnc", &v.VNC}}
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

// Set changes one value without a look at it; "" is the default. A key that there is not is fault.Usage.
func (v *Settings) Set(key, value string) error {
	for _, s := range v.list() {
		if s.key == key {
			*s.value = value
			return nil
		}
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
	read, err := decodeSettings("new "+settingsName, data)
	if err != nil {
		return err
	}
	if read != v {
		return fault.New(fault.Config, "cannot write %s: a value is not UTF-8", settingsName)
	}
	return s.replace(data, settingsName)
}
