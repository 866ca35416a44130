package tool

import (
	"encoding/json"
	"time"

	"github.com/rosterrun/roster/tool/contract"
)

// SettingError is a key under tool-settings that cannot be used.
type SettingError = contract.SettingError

type readSet struct {
	lineNumbers   bool
	limit         int // lines
	maxLineLength int // characters
}

func readSettings(raw json.RawMessage) (s readSet, err error) {
	err = contract.Read("read", raw, contract.Into{"line-numbers": &s.lineNumbers, "limit": &s.limit, "max-line-length": &s.maxLineLength})
	return s, err
}

type globSet struct{ limit int } // files

func globSettings(raw json.RawMessage) (s globSet, err error) {
	err = contract.Read("glob", raw, contract.Into{"limit": &s.limit})
	return s, err
}

type grepSet struct {
	lineNumbers   bool
	limit         int // matching lines
	maxLineLength int // characters
}

func grepSettings(raw json.RawMessage) (s grepSet, err error) {
	err = contract.Read("grep", raw, contract.Into{"line-numbers": &s.lineNumbers, "limit": &s.limit, "max-line-length": &s.maxLineLength})
	return s, err
}

type bashSet struct{ timeout, maxTimeout time.Duration }

func bashSettings(raw json.RawMessage) (s bashSet, err error) {
	err = contract.Read("bash", raw, contract.Into{"timeout": &s.timeout, "max-timeout": &s.maxTimeout})
	return s, err
}
