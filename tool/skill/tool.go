package skill

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool"
)

// Name is the name of the tool by which an agent reads a skill. The subject of its
// rules is the skill.
const Name = "skill"

// Use is a skill as an agent may use it.
type Use struct {
	*Skill
	// Allowed are its allowed-tools as far as they count.
	Allowed []permission.Rule
}

// New makes the tool for an agent that works in a folder. Without skills it is
// withheld.
func New(workspace string, skills []Use, settings json.RawMessage) tool.Tool {
	t := &skillTool{def: tool.Define(Name, settings), workspace: workspace, skills: make(map[string]Use, len(skills))}
	for _, s := range skills {
		t.skills[s.Name] = s
	}
	if len(skills) == 0 {
		return none{t}
	}
	return t
}

type skillTool struct {
	def       *model.ToolDef
	workspace string
	skills    map[string]Use
}

// none is the tool where there are no skills.
type none struct{ *skillTool }

func (none) Withheld() string { return "there is no skill that the profile may use" }

func (t *skillTool) Def() *model.ToolDef { return t.def }

// Recovery implements tool.Recoverer: it only reads.
func (*skillTool) Recovery(tool.Call) tool.Recovery { return tool.Repeat }

type input struct{ Name, Arguments string }

func (t *skillTool) Prepare(_ context.Context, c tool.Call) (tool.Plan, error) {
	var in input
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return nil, fmt.Errorf("the input cannot be read: %w", err)
	}
	use, ok := t.skills[strings.TrimSpace(in.Name)]
	if !ok {
		return nil, t.unknown(in.Name)
	}
	return &plan{t, use, c.ID, in.Arguments}, nil
}

// maxHits is how many skills a name that none has brings up.
const maxHits = 10

// unknown says which skills the name could have meant.
func (t *skillTool) unknown(name string) error {
	hits := search(t.skills, name)
	if len(hits) == 0 {
		return fmt.Errorf("there is no skill %q; their names stand in the list of skills", name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "there is no skill %q; near to it are:\n", name)
	for _, h := range hits[:min(maxHits, len(hits))] {
		fmt.Fprintf(&b, "- %s: %s\n", h.Name, cut(h.Description, 200))
	}
	return fmt.Errorf("%s", strings.TrimSuffix(b.String(), "\n"))
}

type plan struct {
	tool      *skillTool
	use       Use
	call      string
	arguments string
}

func (p *plan) Needs() []permission.Query {
	return []permission.Query{{Tool: Name, Subject: p.use.Name}}
}

func (p *plan) Close() error { return nil }

func (p *plan) Run(context.Context, func(string)) (tool.Result, error) {
	text, err := p.use.Text(p.arguments)
	if err != nil {
		return tool.Result{}, err
	}
	r := tool.Text(p.use.head() + "\n\n" + text)
	if lent := p.use.Lent(p.call, p.tool.workspace, p.use.Allowed); lent != nil {
		r.Note = lent
	}
	return r, nil
}

// head says what there is of a skill besides its text.
func (s *Skill) head() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Skill %s\n", s.Name)
	if s.Dir == "" {
		b.WriteString("It is built in and has no folder.")
		return b.String()
	}
	fmt.Fprintf(&b, "Its folder is %s: paths in what follows are below it.", s.Dir)
	list, all := s.Files()
	if all == 0 {
		b.WriteString(" There is nothing else in it.")
		return b.String()
	}
	b.WriteString(" Read or run its files where the text says so:\n")
	for _, f := range list {
		b.WriteString("- " + printable(f) + "\n")
	}
	if more := all - len(list); more > 0 {
		fmt.Fprintf(&b, "- and %d more\n", more)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// printable is a name of a file as it may be shown.
func printable(name string) string {
	if line(name) != name {
		return fmt.Sprintf("%q", name)
	}
	return name
}
