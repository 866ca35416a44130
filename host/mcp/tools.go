package mcp

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rosterrun/roster/profile"
)

const (
	maxToolName    = 64   // bytes
	maxDescription = 2048 // bytes
)

// tools are the profiles as they are offered.
type tools struct {
	mu   sync.Mutex
	says map[string]string // what is said of a tool, by its name
}

// watchProfiles offers the profiles as they are, until the server is closed.
func (s *Server) watchProfiles() {
	seen := sync.OnceFunc(func() { close(s.offered) })
	for list := range s.opts.Profiles(s.ctx) {
		s.offer(list)
		seen()
	}
}

// offer makes the tools those of the profiles. Clients are told by the library.
func (s *Server) offer(list []*profile.Profile) {
	list = slices.DeleteFunc(slices.Clone(list), func(p *profile.Profile) bool { return !s.opts.Offer(p) })
	names := toolNames(list)
	t := &s.tools
	t.mu.Lock()
	defer t.mu.Unlock()
	says := make(map[string]string, len(list))
	for _, p := range list {
		tool := toolOf(p, names[p.Name])
		says[tool.Name] = p.Name + "\x00" + tool.Title + "\x00" + tool.Description
		if old, there := t.says[tool.Name]; there && old == says[tool.Name] {
			continue
		}
		name := p.Name
		s.mcp.AddTool(tool, s.handler(name))
	}
	var gone []string
	for name := range t.says {
		if _, still := says[name]; !still {
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		s.mcp.RemoveTools(gone...)
	}
	t.says = says
}

// toolNames gives each profile the name of its tool: its own, with "_" for what
// other programs do not take. Where that makes two the same, or one too long,
// they end in a digest of their own name, so that a name never depends on the
// order of the profiles.
func toolNames(list []*profile.Profile) map[string]string {
	count := map[string]int{}
	for _, p := range list {
		count[plain(p.Name)]++
	}
	names := make(map[string]string, len(list))
	for _, p := range list {
		name := plain(p.Name)
		if len(name) > maxToolName || count[name] > 1 {
			sum := sha256.Sum256([]byte(p.Name))
			tail := "_" + hex.EncodeToString(sum[:4])
			name = name[:min(len(name), maxToolName-len(tail))] + tail
		}
		names[p.Name] = name
	}
	return names
}

func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, name)
}

func toolOf(p *profile.Profile, name string) *sdk.Tool {
	what := cmp.Or(p.Description.V, p.Summary.V, "The agent "+p.Name+".")
	return &sdk.Tool{
		Name: name, Title: cmp.Or(p.Title.V, p.Name), Description: cut(what, maxDescription),
		InputSchema: inputSchema, OutputSchema: outputSchema,
	}
}

// cut bounds a text, in bytes, and says so.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	const more = " …"
	n -= len(more)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + more
}

var inputSchema = json.RawMessage(`{
"type": "object",
"properties": {
"prompt": {"type": "string", "description": "What the agent is to do, with all that it has to know: it sees nothing of this conversation."},
"session": {"type": "string", "description": "The session of an earlier answer, to go on with that conversation. Without it a new one begins."},
"overrides": {"type": "object", "description": "For this prompt only, instead of what the profile says.", "properties": {
"model": {"type": "string", "description": "provider/model-id, or an alias of the workspace"},
"thinking": {"type": "string", "enum": ["off", "minimal", "low", "medium", "high"], "description": "how much the model thinks before it answers"},
"temperature": {"type": "number", "minimum": 0, "maximum": 2}
}, "additionalProperties": false}
},
"required": ["prompt"],
"additionalProperties": false
}`)

var outputSchema = json.RawMessage(`{
"type": "object",
"properties": {
"session": {"type": "string", "description": "To go on, give it with the next prompt. Its resource is roster://sessions/SESSION."},
"profile": {"type": "string"},
"answer": {"type": "string"},
"reason": {"type": "string", "description": "Why the run ended: done, limit, cancelled, error, stalled, degenerate, poisoned or denied."},
"usage": {"type": "object", "description": "Tokens, and the cost in USD."},
"limit": {"type": "string", "description": "The limit that ended the run."},
"denied": {"type": "integer", "description": "How many tool calls were denied."},
"cut": {"type": "integer", "description": "How many bytes of the answer are missing here; the session has them."},
"error": {"type": "object", "properties": {"code": {"type": "string"}, "error": {"type": "string"}}}
},
"required": ["session", "profile", "answer", "reason", "usage"]
}`)
