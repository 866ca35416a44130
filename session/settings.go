package session

import (
	"encoding/json"
	"fmt"
	"maps"
)

// Settings are what a session sets over its profile, as profile keys and their
// text. What is empty is as the profile says.
type Settings struct {
	Model       string `json:"model,omitempty"`
	Thinking    string `json:"thinking,omitempty"`
	Temperature string `json:"temperature,omitempty"`
}

// Set changes the settings of a session, from its next loop on. It is inbound. A
// key that it does not name stays; one whose text is empty is as the profile says
// again.
type Set struct {
	Keys map[string]string `json:"set"`
}

// Settable lists the keys that a session can set.
func Settable() []string { return []string{"model", "thinking", "temperature"} }

// With gives the settings after a change. Keys that cannot be set are passed over.
func (s Settings) With(change map[string]string) Settings {
	for key, text := range change {
		switch key {
		case "model":
			s.Model = text
		case "thinking":
			s.Thinking = text
		case "temperature":
			s.Temperature = text
		}
	}
	return s
}

// Map gives the keys that are set.
func (s Settings) Map() map[string]string {
	all := map[string]string{"model": s.Model, "thinking": s.Thinking, "temperature": s.Temperature}
	maps.DeleteFunc(all, func(_, text string) bool { return text == "" })
	return all
}

// Text gives the settings as ParseSettings reads them; empty if there are none.
func (s Settings) Text() string {
	if s == (Settings{}) {
		return ""
	}
	return string(appendAny(nil, s))
}

// ParseSettings reads what Text gave.
func ParseSettings(text string) (s Settings, err error) {
	if text == "" {
		return s, nil
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return s, fmt.Errorf("its settings cannot be read: %w", err)
	}
	return s, nil
}
