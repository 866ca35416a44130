package permission

import (
	"fmt"
	"path/filepath"
)

// Mode says what becomes of questions in a run. None lifts a denial.
type Mode uint8

const (
	ModeDefault     Mode = iota // they are asked
	ModePlan                    // whatever does not only read is denied
	ModeAcceptEdits             // writing and editing in the workspace is allowed
	ModeDontAsk                 // they are denied
	ModeBypass                  // they are allowed
)

// String gives the mode's word.
func (m Mode) String() string {
	switch m {
	case ModeDefault:
		return "default"
	case ModePlan:
		return "plan"
	case ModeAcceptEdits:
		return "accept-edits"
	case ModeDontAsk:
		return "dont-ask"
	case ModeBypass:
		return "bypass"
	}
	return fmt.Sprintf("mode(%d)", uint8(m))
}

// ParseMode reads a mode's word. Anything else is an error, and ModeDontAsk.
func ParseMode(s string) (Mode, error) {
	for m := ModeDefault; m <= ModeBypass; m++ {
		if s == m.String() {
			return m, nil
		}
	}
	return ModeDontAsk, fmt.Errorf("unknown permission mode %q: write default, plan, accept-edits, dont-ask or bypass", s)
}

// MarshalText gives the mode's word.
func (m Mode) MarshalText() ([]byte, error) {
	if m > ModeBypass {
		return nil, fmt.Errorf("%s is no permission mode", m)
	}
	return []byte(m.String()), nil
}

// UnmarshalText reads the mode's word. After an error the mode is ModeDontAsk.
func (m *Mode) UnmarshalText(text []byte) (err error) {
	*m, err = ParseMode(string(text))
	return err
}

// on gives what the mode makes of a verdict of the rules.
func (m Mode) on(effect Effect, tool, subject string) Effect {
	switch {
	case effect == Deny:
	case m == ModePlan && !onlyReads(tool), m == ModeDontAsk && effect == Ask:
		return Deny
	case effect == Allow:
	case m == ModeBypass, m == ModeAcceptEdits && (tool == "write" || tool == "edit") && inside(subject):
		return Allow
	}
	return effect
}

func (m Mode) reason() string {
	switch m {
	case ModePlan:
		return ReasonPlan
	case ModeAcceptEdits:
		return ReasonEdits
	case ModeDontAsk:
		return ReasonDontAsk
	}
	return ReasonBypass
}

// onlyReads lists the tools that change nothing but the session itself. The
// outside and protected files are judged beside another tool.
func onlyReads(tool string) bool {
	switch tool {
	case "read", "glob", "grep", "todo", "plan", "scratchpad", "skill", "ask_user", "webfetch", "websearch", "browser_open", "browser_read", "browser_screenshot",
		"knowledge_list", "knowledge_read", "knowledge_search",
		ExternalDirectory, Protected:
		return true
	}
	return false
}

// inside says of a path, as rules see it, that it is in the workspace.
func inside(subject string) bool { return filepath.IsLocal(subject) && !holed(subject) }
