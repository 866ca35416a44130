package tool

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

func (e *SettingError) Error() string {
	key := "tool-settings." + e.Tool
	if e.Key != "" {
		key += "." + e.Key
	}
	return key + ": " + e.Problem
}

// CheckSettings says whether the settings of a built-in tool can be used. A
// tool that is not built in passes. The error joins *SettingErrors.
func CheckSettings(tool string, raw json.RawMessage) (err error) {
	switch tool {
	case "read":
		_, err = readSettings(raw)
	case "glob":
		_, err = globSettings(raw)
	case "grep":
		_, err = grepSettings(raw)
	case "bash":
		_, err = bashSettings(raw)
	case "write", "edit":
		err = noSettings(tool, raw)
	}
	return err
}

type readSet struct {
	lineNumbers   bool
	limit         int // lines
	maxLineLength int // characters
}

func readSettings(raw json.RawMessage) (readSet, error) {
	s := readSet{lineNumbers: true, limit: 2000, maxLineLength: 2000}
	err := settings("read", raw, map[string]setter{
		"line-numbers":    boolean(&s.lineNumbers),
		"limit":           atLeast(1, &s.limit),
		"max-line-length": atLeast(4, &s.maxLineLength),
	})
	return s, err
}

type globSet struct{ limit int } // files

func globSettings(raw json.RawMessage) (globSet, error) {
	s := globSet{limit: 1000}
	err := settings("glob", raw, map[string]setter{"limit": atLeast(1, &s.limit)})
	return s, err
}

type grepSet struct {
	lineNumbers   bool
	limit         int // matching lines
	maxLineLength int // characters
}

func grepSettings(raw json.RawMessage) (grepSet, error) {
	s := grepSet{lineNumbers: true, limit: 100, maxLineLength: 2000}
	err := settings("grep", raw, map[string]setter{
		"line-numbers":    boolean(&s.lineNumbers),
		"limit":           atLeast(1, &s.limit),
		"max-line-length": atLeast(4, &s.maxLineLength),
	})
	return s, err
}

type bashSet struct{ timeout, maxTimeout time.Duration }

func bashSettings(raw json.RawMessage) (bashSet, error) {
	s := bashSet{timeout: 120 * time.Second, maxTimeout: 10 * time.Minute}
	err := settings("bash", raw, map[string]setter{
		"timeout":     span(&s.timeout),
		"max-timeout": span(&s.maxTimeout),
	})
	if err == nil && s.timeout > s.maxTimeout {
		err = &SettingError{"bash", "timeout", fmt.Sprintf("%v is more than max-timeout, which is %v", s.timeout, s.maxTimeout)}
	}
	return s, err
}

func noSettings(tool string, raw json.RawMessage) error { return settings(tool, raw, nil) }

// setter takes one value; its error says what to write.
type setter func(json.RawMessage) error

// settings gives each key of an object to its setter, and reports all that is
// wrong.
func settings(tool string, raw json.RawMessage, known map[string]setter) error {
	if len(raw) == 0 {
		return nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		return &SettingError{tool, "", "write a map of settings"}
	}
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(object)) {
		set := known[key]
		switch {
		case set == nil:
			errs = append(errs, &SettingError{tool, key, "there is no such setting; " + choices(known)})
		case string(object[key]) == "null":
			errs = append(errs, &SettingError{tool, key, "null is no value; leave the key out for the default"})
		default:
			if err := set(object[key]); err != nil {
				errs = append(errs, &SettingError{tool, key, err.Error()})
			}
		}
	}
	return errors.Join(errs...)
}

func choices(known map[string]setter) string {
	if len(known) == 0 {
		return "this tool has none"
	}
	return "this tool has " + strings.Join(slices.Sorted(maps.Keys(known)), ", ")
}

func boolean(to *bool) setter {
	return func(raw json.RawMessage) error {
		if json.Unmarshal(raw, to) != nil {
			return fmt.Errorf("%s is not a boolean; write true or false", raw)
		}
		return nil
	}
}

func atLeast(least int, to *int) setter {
	return func(raw json.RawMessage) error {
		var n int
		if json.Unmarshal(raw, &n) != nil || n < least {
			return fmt.Errorf("%s is not a whole number of at least %d", raw, least)
		}
		*to = n
		return nil
	}
}

func span(to *time.Duration) setter {
	return func(raw json.RawMessage) error {
		d, err := parseSpan(raw)
		if err == nil {
			*to = d
		}
		return err
	}
}

// parseSpan reads a JSON number of seconds, or a string such as "90s" or "5m".
func parseSpan(raw json.RawMessage) (time.Duration, error) {
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
