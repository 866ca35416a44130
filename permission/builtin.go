package permission

import "github.com/rosterrun/roster/source"

// Pseudo-tools: a call that leaves the workspace, or writes to a file that
// says what agents are, is judged under these as well. The tool pattern `*`
// does not match them.
const (
	ExternalDirectory = "external_directory"
	Protected         = "protected"
)

// Builtin returns the rules that stand before all others, so that any other
// overrides them.
func Builtin() []Rule {
	at := source.Origin{Layer: source.Builtin}
	var rules []Rule
	add := func(effect Effect, subject string, tools ...string) {
		for _, t := range tools {
			rules = append(rules, Rule{Tool: t, Subject: subject, Effect: effect, At: at})
		}
	}
	add(Allow, "*", "read", "glob", "grep", "todo", "plan", "scratchpad", "skill", "ask_user",
		"task", "revert_to", "emit", "memory", "browser_read", "browser_screenshot",
		"knowledge_list", "knowledge_read", "knowledge_search")
	for _, secret := range []string{"*.env", "*.env.*", "*.pem", "*id_rsa*"} {
		add(Ask, secret, "read")
	}
	add(Ask, "*", "write", "edit", "bash", "webfetch", "websearch", "switch_profile", "browser_open", "browser_click", "browser_fill",
		ExternalDirectory, Protected)
	return rules
}
