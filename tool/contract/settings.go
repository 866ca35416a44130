package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// SettingError is a key under tool-settings that cannot be used.
type SettingError struct {
	Tool, Key string // Key is empty if the settings are not an object
	Problem   string // what is wrong and what to write
}

func (e *SettingError) Error() string { return e.Where() + ": " + e.Problem }

// Where is the key in a profile.
func (e *SettingError) Where() string {
	if e.Key == "" {
		return "tool-settings." + e.Tool
	}
	return "tool-settings." + e.Tool + "." + e.Key
}

// Check says whether the settings of a tool can be used, which are a JSON object or
// nothing. A tool that is not built in passes. The error joins *SettingErrors.
func Check(tool string, raw json.RawMessage) error {
	c := Find(tool)
	if c == nil {
		return nil
	}
	to := Into{}
	for _, s := range c.Settings {
		switch s.Kind {
		case Bool:
			to[s.Name] = new(bool)
		case Count:
			to[s.Name] = new(int)
		case Span:
			to[s.Name] = new(time.Duration)
		case Texts:
			to[s.Name] = new([]string)
		}
	}
	return Read(tool, raw, to)
}

// Into has where each setting of a tool goes: a *bool, *int, *time.Duration or
// *[]string, by the kind that the table gives it.
type Into map[string]any

// Read reads the settings of a tool, over the defaults of the table, and
// reports all that is wrong.
func Read(tool string, raw json.RawMessage, to Into) error {
	c := Find(tool)
	for i := range c.Settings {
		if s := &c.Settings[i]; s.Default != "" {
			if err := set(s, defaultOf(s), to[s.Name]); err != nil {
				panic(fmt.Sprintf("tool: the default of %s.%s: %v", tool, s.Name, err)) // a test reads them all
			}
		}
	}
	if len(raw) == 0 {
		return nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		return &SettingError{tool, "", "write a map of settings"}
	}
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(object)) {
		s := c.Setting(key)
		switch {
		case s == nil:
			errs = append(errs, &SettingError{tool, key, "there is no such setting; " + choices(c.SettingNames())})
		case string(object[key]) == "null":
			errs = append(errs, &SettingError{tool, key, "null is no value; leave the key out for the default"})
		default:
			if err := set(s, object[key], to[key]); err != nil {
				errs = append(errs, &SettingError{tool, key, err.Error()})
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return inOrder(tool, to)
}

// inOrder holds the timeout of a tool against its max-timeout.
func inOrder(tool string, to Into) error {
	timeout, ok1 := to["timeout"].(*time.Duration)
	longest, ok2 := to["max-timeout"].(*time.Duration)
	if ok1 && ok2 && *timeout > *longest {
		return &SettingError{tool, "timeout", fmt.Sprintf("%v is more than max-timeout, which is %v", *timeout, *longest)}
	}
	return nil
}

// defaultOf is the default of a setting in JSON.
func defaultOf(s *Setting) json.RawMessage {
	if s.Kind == Span {
		return json.RawMessage(`"` + s.Default + `"`)
	}
	return json.RawMessage(s.Default)
}

func choices(names []string) string {
	if len(names) == 0 {
		return "this tool has none"
	}
	return "this tool has " + strings.Join(names, ", ")
}

// set reads one value. Its error says what to write.
func set(s *Setting, raw json.RawMessage, to any) error {
	switch s.Kind {
	case Bool:
		if json.Unmarshal(raw, to.(*bool)) != nil {
			return fmt.Errorf("%s is not a boolean; write true or false", raw)
		}
	case Count:
		var n int
		if json.Unmarshal(raw, &n) != nil || n < s.Low {
			return fmt.Errorf("%s is not a whole number of at least %d", raw, s.Low)
		}
		*to.(*int) = n
	case Span:
		d, err := ParseSpan(raw)
		if err != nil {
			return err
		}
		*to.(*time.Duration) = d
	case Texts:
		var list []string
		if json.Unmarshal(raw, &list) != nil || slices.Contains(list, "") {
			return fmt.Errorf("%s is not a list of texts", raw)
		}
		*to.(*[]string) = list
	}
	return nil
}

// ParseSpan reads a JSON number of seconds, or a string such as "90s" or "5m".
func ParseSpan(raw json.RawMessage) (time.Duration, error) {
	var seconds float64
	var text string
	var d time.Duration
	if json.Unmarshal(raw, &seconds) == nil {
		if seconds < maxSpan.Seconds() {
			d = time.Duration(seconds * float64(time.Second))
		}
	} else if json.Unmarshal(raw, &text) == nil {
		d, _ = time.ParseDuration(text)
	}
	if d <= 0 || d > maxSpan {
		return 0, fmt.Errorf("%s is not a time; write seconds or a duration such as 90s or 5m, at most %v", raw, maxSpan)
	}
	return d, nil
}

const maxSpan = 24 * time.Hour
