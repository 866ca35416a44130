package dialect

import (
	"strings"

	"go.yaml.in/yaml/v4"
)

// guess names the dialect of a Markdown file by its content, where neither its
// suffix nor its folder tells. It is empty for a file that looks like none.
func (f *File) guess() string {
	if !f.guessed {
		f.guessed = true
		if isMarkdown(f.Path) {
			f.guessedName = guessDialect(f.Path, f.document())
		}
	}
	return f.guessedName
}

func guessDialect(place string, doc *document) string {
	under := underAgents(place)
	switch {
	case doc.has("provider") && doc.has("model") && doc.has("system-prompt") && !beyondKnot(doc):
		return "knot"
	case nativeOnly(doc):
		return "roster"
	case opencodeShape(doc), under && !doc.has("name"):
		return "opencode"
	case under, doc.has("name") && doc.has("description", "model", "tools", "agent-profile"), isCard(place, doc):
		return "claude"
	}
	return ""
}

// guessedAs gives a Detect for what the content alone tells.
func guessedAs(f *File, name string) Certainty {
	if f.guess() == name {
		return ByContent
	}
	return No
}

// nativeOnly says whether a document has a key that no other dialect has.
func nativeOnly(doc *document) bool {
	if provider, ok := doc.find("provider"); ok && !isLauncher(provider.node) {
		return true
	}
	return doc.has("system-prompt") || onlyOurs(doc)
}

// beyondKnot says whether a document has a native key that knot does not have.
func beyondKnot(doc *document) bool { return doc.has("title") || onlyOurs(doc) }

func onlyOurs(doc *document) bool {
	return doc.has("extends", "summary", "details", "subagent-prompt", "default-permission", "limits",
		"retry", "tool-execution", "cache", "subagents", "habits", "fallbacks", "thinking", "vars", "session",
		"model-config", "profile-id", "config-id")
}

// opencodeShape says whether a document has a key that OpenCode has and Claude
// has not, or its map of tools.
func opencodeShape(doc *document) bool {
	if doc.has("mode", "permission", "permissions", "steps", "temperature") {
		return true
	}
	tools, ok := doc.find("tools")
	return ok && deref(tools.node).Kind == yaml.MappingNode
}

// isCard knows the cards of agents that have no name of their own: their folder
// or their type says what they are.
func isCard(place string, doc *document) bool {
	if !doc.has("description") {
		return false
	}
	kind, ok := doc.find("type")
	return inCards(place) || ok && deref(kind.node).Value == "agent"
}

// isLauncher says whether a provider is none, but the program that an
// orchestrator starts for the agent.
func isLauncher(n *yaml.Node) bool {
	v := deref(n).Value
	return v == "claude_code" || v == "codex" || strings.HasSuffix(v, "_cli")
}
