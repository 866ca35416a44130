package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/sandbox"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
)

// Blueprint is all that the runs of one spec share: the model, the tools that
// are offered, the compiled permissions and the stable head of every request.
// It is immutable and safe for concurrent use; a new agent costs a pointer to
// it.
type Blueprint struct {
	Spec   *spec.Spec
	Model  model.Model
	Permit *permission.Engine
	Prefix *model.Prefix
	// Box is where commands run. It is set before the first run.
	Box sandbox.Box
	// Hooks are asked on the way; nil: there are none. It is set before the
	// first run.
	Hooks *hook.Set

	// Live has the tools that change by themselves; nil: none do. It is set before the
	// first run.
	Live Live

	// Observe is told of what the agents do that work for one who runs by this, in order:
	// of stored events when they are stored. The run waits for it. nil: nobody is told.
	Observe func(session.Event)

	models       []link      // Model and its fallbacks
	*extension               // nil: nothing adds to requests
	summariser   *summariser // nil: the loop's own model writes summaries
	withheld     map[string]string
	having       []*Capability // those of which it has a tool
	tools        map[string]offered
	specJSON     []byte
	specDigest   string
	prefixJSON   []byte
	prefixDigest string
	stored       sync.Map // tenant → struct{}: both blobs are in the store
}

type offered struct {
	tool.Tool
	of    *Capability
	input *tool.Validator
}

// Compile makes a blueprint of a spec. headless says that nobody can answer an
// `ask`. Tools that the spec does not name, or whose rules deny all, are not
// offered to the model. fallbacks are the models of s.Fallbacks.
func Compile(s *spec.Spec, m model.Model, all []Capability, headless bool, fallbacks ...model.Model) (*Blueprint, error) {
	permit, err := s.Permit(headless)
	if err != nil {
		return nil, err
	}
	b := &Blueprint{Spec: s, Model: m, Permit: permit, tools: map[string]offered{}}
	if b.models, err = newChain(s, m, fallbacks); err != nil {
		return nil, fmt.Errorf("profile %s: %w", s.Name, err)
	}
	prefix := &model.Prefix{System: s.System()}
	for i := range all {
		if err := b.have(&all[i], prefix); err != nil {
			return nil, err
		}
	}
	if b.specJSON, b.specDigest, err = s.Encode(); err != nil {
		return nil, fmt.Errorf("profile %s: %w", s.Name, err)
	}
	b.setPrefix(prefix)
	return b, nil
}

// have takes in the tools of a capability that are offered, and with the first of
// them the rest of it.
func (b *Blueprint) have(c *Capability, prefix *model.Prefix) error {
	has := false
	for _, t := range c.Tools {
		name := t.Def().Name
		if w, ok := t.(tool.Withheld); ok {
			b.withhold(name, w.Withheld())
		}
		if offer(b.Spec, b.Permit, c, t).Effect == permission.Deny {
			continue
		}
		v, err := tool.NewValidator(t.Def())
		if err != nil {
			return fmt.Errorf("tool %s: %w", name, err)
		}
		def, err := compact(t.Def())
		if err != nil {
			return fmt.Errorf("tool %s: its schema: %w", name, err)
		}
		b.tools[name] = offered{t, c, v}
		prefix.Tools = append(prefix.Tools, def)
		has = true
	}
	if has {
		b.having = append(b.having, c)
		if c.Fragment != "" {
			prefix.System = append(prefix.System, c.Fragment)
		}
	}
	return nil
}

// Capabilities are those of which it offers a tool.
func (b *Blueprint) Capabilities() []*Capability { return b.having }

// SummariseWith has another model write the summaries of long conversations: that
// of the profile of the spec's Context. It is called before the first run.
func (b *Blueprint) SummariseWith(m model.Model) error {
	s := b.Spec.Context.Summariser
	l, err := newLink(m, s, s.Model)
	b.summariser = &summariser{l, s.System()}
	return err
}

// compact takes the blanks out of a tool's schema. So it stands in the log, and a
// loop that is taken up again sends the same bytes.
func compact(d *model.ToolDef) (*model.ToolDef, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, d.Schema); err != nil {
		return nil, err
	}
	return &model.ToolDef{Name: d.Name, Description: d.Description, Schema: b.Bytes()}, nil
}

// withhold notes what a model is told that calls a tool which is not offered.
func (b *Blueprint) withhold(name, text string) {
	if b.withheld == nil {
		b.withheld = map[string]string{}
	}
	b.withheld[name] = text
}

// Digest names the spec; "" for none.
func (b *Blueprint) Digest() string {
	if b == nil {
		return ""
	}
	return b.specDigest
}

// WithPrefix returns the blueprint with the head that a loop began with, as it
// stands in the log, for taking that loop up again.
func (b *Blueprint) WithPrefix(data []byte) (*Blueprint, error) {
	p, err := DecodePrefix(data)
	if err != nil {
		return nil, err
	}
	c := b.clone()
	c.setPrefix(p)
	return c, nil
}

// WithHooks returns the blueprint with more hooks, which are asked after its own.
func (b *Blueprint) WithHooks(more *hook.Set) *Blueprint {
	c := b.copied()
	c.Hooks = b.Hooks.With(more)
	return c
}

// Observed returns the blueprint with an observer of its own.
func (b *Blueprint) Observed(by func(session.Event)) *Blueprint {
	c := b.copied()
	c.Observe = by
	return c
}

// copied is the blueprint with its prefix.
func (b *Blueprint) copied() *Blueprint {
	c := b.clone()
	c.Prefix, c.prefixJSON, c.prefixDigest = b.Prefix, b.prefixJSON, b.prefixDigest
	return c
}

// clone is the blueprint without a prefix.
func (b *Blueprint) clone() *Blueprint {
	return &Blueprint{
		Spec: b.Spec, Model: b.Model, Permit: b.Permit, Box: b.Box, Hooks: b.Hooks, Live: b.Live, Observe: b.Observe, models: b.models, summariser: b.summariser, extension: b.extension, having: b.having, tools: b.tools, withheld: b.withheld,
		specJSON: b.specJSON, specDigest: b.specDigest,
	}
}

func (b *Blueprint) setPrefix(p *model.Prefix) {
	b.Prefix = p
	b.prefixJSON = encodePrefix(p)
	b.prefixDigest = digest(b.prefixJSON)
}

// ToolNames lists the offered tools in the order in which the model sees them.
func (b *Blueprint) ToolNames() []string {
	names := make([]string, len(b.Prefix.Tools))
	for i, d := range b.Prefix.Tools {
		names[i] = d.Name
	}
	return names
}

type prefixJSON struct {
	System []string   `json:"system"`
	Tools  []toolJSON `json:"tools"`
}

type toolJSON struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

func encodePrefix(p *model.Prefix) []byte {
	j := prefixJSON{System: p.System}
	for _, t := range p.Tools {
		j.Tools = append(j.Tools, toolJSON{t.Name, t.Description, t.Schema})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // schemas stay as they are
	if err := e.Encode(j); err != nil {
		panic(fmt.Sprintf("engine: a tool's schema is not JSON: %v", err)) // the validator has compiled it
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// DecodePrefix reads the head of requests as it stands in the log.
func DecodePrefix(data []byte) (*model.Prefix, error) {
	var j prefixJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return nil, fmt.Errorf("stored request prefix: %w", err)
	}
	p := &model.Prefix{System: j.System}
	for _, t := range j.Tools {
		p.Tools = append(p.Tools, &model.ToolDef{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	return p, nil
}
