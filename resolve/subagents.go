package resolve

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/prompt"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
)

// DefaultDepth is how many levels of agents may work below one that does not
// say.
const DefaultDepth = 3

// subagents finds what bounds the agents that work for this one. For one that
// works for another itself, what that one may do is the most.
func (r *resolver) subagents() {
	out, above := &r.out.Subagents, r.in.Above
	depth := pick(r, "subagents.max-depth", func(p *profile.Profile) profile.Value[int] { return p.SubagentMaxDepth })
	out.MaxDepth = depth.V
	if above != nil {
		out.MaxDepth = min(out.MaxDepth, above.Subagents.MaxDepth-1)
	}
	if most := r.in.Config.Policy.TaskDepth; most != 0 && out.MaxDepth > max(most, 0) {
		out.MaxDepth = max(most, 0)
		r.out.Origins["subagents.max-depth"] = spec.Trace{Origin: source.Origin{Layer: source.Host}, Overrode: []source.Origin{depth.At}}
	}
	r.subagentTools()
	out.MaxParallel = scalarOf(r, "subagents.max-parallel", strconv.Atoi)
	out.InheritDenies = scalarOf(r, "subagents.inherit-denies", strconv.ParseBool)
	if above == nil {
		return
	}
	r.out.Above = slices.Clone(above.Above)
	if above.Subagents.InheritDenies {
		r.out.Above = append(r.out.Above, spec.Denier{Name: above.Name, Rules: above.Rules, Default: above.DefaultPermission})
	}
	r.capTools(above.Subagents.Tools)
}

func (r *resolver) subagentTools() {
	pick(r, "subagents.tools", func(p *profile.Profile) profile.Value[[]string] { return p.SubagentTools })
	for _, l := range r.layers {
		t := l.Keys.SubagentTools
		if !t.Set {
			continue
		}
		if !l.Keys.SubagentToolsAdd {
			r.out.Subagents.Tools = []string{}
		}
		r.out.Subagents.Tools = append(r.out.Subagents.Tools, t.V...)
	}
	if slices.Contains(r.out.Subagents.Tools, "*") {
		r.out.Subagents.Tools = nil
	}
}

// capTools leaves the agent no more tools than the one that delegates lets it
// have; nil: all of its own.
func (r *resolver) capTools(most []string) {
	switch {
	case most == nil:
	case r.out.AllTools:
		r.out.AllTools, r.out.Tools = false, slices.Clone(most)
	default:
		r.out.Tools = slices.DeleteFunc(r.out.Tools, func(name string) bool {
			return !slices.ContainsFunc(most, func(m string) bool { return covers(m, name) })
		})
	}
}

// scalarOf takes a key that is kept as it was written from the strongest layer.
// What a request says can only be stricter.
func scalarOf[T comparable](r *resolver, key string, parse func(string) (T, error)) T {
	v := pick(r, key, func(p *profile.Profile) profile.Value[T] {
		x, ok := kept(p, key)
		if !ok || r.err != nil {
			return profile.Value[T]{}
		}
		node, err := x.Node()
		var value T
		if err == nil {
			value, err = parse(node.Value)
		}
		if err != nil {
			r.fail(key, x.At, fmt.Sprintf("%q is no value for it", strings.TrimSpace(string(x.YAML))), "see roster schema")
		}
		return profile.Value[T]{V: value, Set: err == nil, At: x.At}
	})
	return v.V
}

func kept(p *profile.Profile, key string) (profile.Extra, bool) {
	i := slices.IndexFunc(p.Extra, func(x profile.Extra) bool { return x.Known && x.Key == key })
	if i < 0 {
		return profile.Extra{}, false
	}
	return p.Extra[i], true
}

// subagentPrompt is what the profile says as the prompt of one that works for
// another; set says that it does.
func (r *resolver) subagentPrompt(c *prompt.Composer) (text string, at source.Origin, set bool) {
	v := strongest(r.layers, func(p *profile.Profile) profile.Value[string] { return p.SubagentPrompt })
	if r.in.Above == nil || !v.Set {
		return "", source.Origin{}, false
	}
	c.Fill = r.filler(r.in.Profile, "subagent-prompt", v.At)
	text, at, r.err = c.Text(v)
	return text, at, true
}

// promptForSubagents is what the profile adds to the prompts of those that work
// for it.
func (r *resolver) promptForSubagents(c *prompt.Composer) {
	v := pick(r, "subagents.prompt", func(p *profile.Profile) profile.Value[string] {
		x, ok := kept(p, "subagents.prompt")
		if !ok || r.err != nil {
			return profile.Value[string]{}
		}
		node, err := x.Node()
		if err != nil {
			r.fail("subagents.prompt", x.At, err.Error(), "")
			return profile.Value[string]{}
		}
		return profile.Value[string]{V: node.Value, Set: true, At: x.At}
	})
	if v.Set && r.err == nil {
		c.Fill = r.filler(r.in.Profile, "subagents.prompt", v.At)
		r.out.Subagents.Prompt, _, r.err = c.Text(v)
	}
}

// added joins what the agent that delegates adds to a prompt.
func (r *resolver) added(text string) string {
	if r.in.Above == nil || r.in.Above.Subagents.Prompt == "" {
		return text
	}
	return strings.TrimPrefix(text+"\n\n"+r.in.Above.Subagents.Prompt, "\n\n")
}

// narrowSubagents takes out of a request what would let more agents work, or
// with more.
func (r *resolver) narrowSubagents(keys *profile.Profile) {
	get := func(p *profile.Profile) profile.Value[int] { return p.SubagentMaxDepth }
	if d, below := &keys.SubagentMaxDepth, strongest(r.layers, get); d.Set && d.V > below.V {
		r.widens("subagents.max-depth", below.V)
		*d = profile.Value[int]{}
	}
	if keys.SubagentTools.Set {
		r.widens("subagents.tools", "as it is")
		keys.SubagentTools, keys.SubagentToolsAdd = profile.Value[[]string]{}, false
	}
	keys.Extra = slices.DeleteFunc(keys.Extra, func(x profile.Extra) bool {
		if x.Key != "subagents.inherit-denies" && x.Key != "subagents.max-parallel" {
			return false
		}
		r.widens(x.Key, "as it is")
		return true
	})
}

// inherits says that the model is that of the agent that delegates: none is
// named, not even by default.
func (r *resolver) inherits(id, provider profile.Value[string]) bool {
	return r.in.Inherit != nil && (id.V == inherit || cmp.Or(id.V, provider.V) == "")
}
