package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/rosterrun/roster/tool"
)

// maxName is how long a name may be that every provider takes for a tool.
const maxName = 64

// Name is the name by which a tool of a server is offered: server_tool, with _ for
// what not every provider takes. One that is too long is cut and ends in a digest.
func Name(server, tool string) string {
	name := safe(server) + "_" + safe(tool)
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	digest := hex.EncodeToString(sum[:4])
	return name[:maxName-1-len(digest)] + "_" + digest
}

func safe(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, text)
}

// Problem is something about a tool of a server that a person should know: mostly
// that it is left out, and why.
type Problem struct {
	Server string `json:"server"`
	Tool   string `json:"tool,omitempty"` // as the server calls it; empty: all of them
	Text   string `json:"text"`
}

func (p Problem) String() string {
	if p.Tool == "" {
		return fmt.Sprintf("MCP server %s: %s", p.Server, p.Text)
	}
	return fmt.Sprintf("MCP server %s, tool %q: %s", p.Server, p.Tool, p.Text)
}

// Offer gives the tools of all servers of one agent. A server that was never reached
// has those that are remembered of it, by its name. A name that several tools have, or
// that is among the taken ones, is offered by none of them.
func Offer(clients []*Client, remembered map[string][]Definition, taken ...string) ([]tool.Tool, []Problem) {
	var all []*Tool
	var problems []Problem
	for _, c := range clients {
		tools := c.Tools()
		if tools == nil {
			tools = c.recall(remembered[c.Name()])
		}
		all = append(all, tools...)
		problems = append(problems, c.Problems()...)
	}
	has := map[string][]*Tool{}
	for _, t := range all {
		has[t.Name] = append(has[t.Name], t)
	}
	var offered []tool.Tool
	for _, t := range all {
		others := has[t.Name]
		switch {
		case slices.Contains(taken, t.Name):
			problems = append(problems, Problem{t.client.Name(), t.Tool, fmt.Sprintf("it is left out: there is another tool of the name %s; give the server another name", t.Name)})
		case len(others) > 1:
			problems = append(problems, Problem{t.client.Name(), t.Tool, fmt.Sprintf("it is left out: its name would be %s, and so would that of %s; give a server another name", t.Name, besides(t, others))})
		default:
			offered = append(offered, t)
		}
	}
	return offered, problems
}

// besides names the other tools.
func besides(t *Tool, all []*Tool) string {
	var names []string
	for _, o := range all {
		if o != t && len(names) < 3 {
			names = append(names, fmt.Sprintf("%q of %s", line(o.Tool, maxTitle), o.client.Name()))
		}
	}
	return strings.Join(names, ", ")
}
