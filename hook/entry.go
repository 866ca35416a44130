package hook

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/source"
)

// Entry is a hook as a file has it.
type Entry struct {
	On      Event         `json:"on"`
	Command string        `json:"command,omitempty"` // a line for bash
	URL     string        `json:"url,omitempty"`     // or what is posted to
	Match   string        `json:"match,omitempty"`
	Timeout time.Duration `json:"timeout_ns,omitempty"`
	At      source.Origin `json:"at"`

	// Profile, Key and Digest are what a person has trusted: the profile that
	// says it (empty: none does), the key in its file, and of what it says.
	Profile string `json:"profile,omitempty"`
	Key     string `json:"key"`
	Digest  string `json:"digest"`
}

// Name is how logs and messages call the hook.
func (e *Entry) Name() string { return e.At.String() }

// Does says what the hook starts or reaches, without what may be a secret in an
// address.
func (e *Entry) Does() string {
	if e.Command != "" {
		return e.Command
	}
	u, err := url.Parse(e.URL)
	if err != nil {
		return "an address"
	}
	if u.RawQuery != "" {
		u.RawQuery = "…"
	}
	return strings.Replace(u.Redacted(), "?%E2%80%A6", "?…", 1)
}

// ParseEntry reads an item of a list of hooks: a command or an address, and what
// it is asked about. The event is given as it is written.
func ParseEntry(event string, item *yaml.Node) (Entry, error) {
	e := Entry{On: Event(strings.ReplaceAll(event, "_", "-"))}
	if !slices.Contains(Events(), e.On) {
		return e, fmt.Errorf("%q is no event: there are %s", event, joined(Events()))
	}
	if item.Kind != yaml.MappingNode {
		return e, errors.New("a hook is a map with command or url")
	}
	for i := 0; i+1 < len(item.Content); i += 2 {
		key, value := item.Content[i].Value, item.Content[i+1]
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		if value.Kind != yaml.ScalarNode {
			return e, fmt.Errorf("%s takes text", key)
		}
		if err := e.set(key, value.Value); err != nil {
			return e, err
		}
	}
	return e, e.check()
}

func (e *Entry) set(key, text string) (err error) {
	switch key {
	case "command":
		e.Command = strings.TrimSpace(text)
	case "url":
		e.URL = strings.TrimSpace(text)
	case "match":
		e.Match = text
	case "timeout":
		if e.Timeout, err = time.ParseDuration(text); err != nil || e.Timeout <= 0 || e.Timeout > MaxTimeout {
			err = fmt.Errorf("timeout takes a time such as 5s, of at most %s, not %q", MaxTimeout, text)
		}
	default:
		err = fmt.Errorf("%q is no key of a hook: there are command, url, match and timeout", key)
	}
	return err
}

func (e *Entry) check() error {
	if (e.Command == "") == (e.URL == "") {
		return errors.New("a hook has either command or url")
	}
	if strings.ContainsRune(e.Command, 0) {
		return errors.New("command holds a NUL")
	}
	if e.URL != "" {
		u, err := url.Parse(e.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return errors.New("url takes an http or https address")
		}
		if u.User != nil {
			return errors.New("url holds a user name or password")
		}
	}
	if e.Match != "" && !e.On.OfTool() {
		return fmt.Errorf("match is for before-tool, after-tool and on-permission; %s has no tool", e.On)
	}
	if _, err := permission.ParsePattern(e.Match); err != nil {
		return fmt.Errorf("match: %w", err)
	}
	return nil
}

func joined(events []Event) string {
	words := make([]string, len(events))
	for i, e := range events {
		words[i] = string(e)
	}
	return strings.Join(words, ", ")
}
