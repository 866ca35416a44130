package resolve

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/prompt"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
)

// prompt composes the layers of the system prompt.
func (r *resolver) prompt() {
	c := prompt.NewComposer(r.root, &r.in.Config.Prompts, r.in.Strategies)
	text, at := r.ownPrompt(c)
	if r.err == nil {
		r.promptForSubagents(c)
	}
	if other, from, ok := r.subagentPrompt(c); ok && r.err == nil {
		text, at = other, from
	}
	if r.err != nil {
		return
	}
	trace := r.out.Origins["system-prompt"]
	trace.Origin = at
	r.out.Origins["system-prompt"] = trace
	for _, cut := range c.Cut {
		r.note(profile.CodeCut, profile.SeverityNote, cut.At, "prompt",
			fmt.Sprintf("the block %s has %d characters; the prompt has the first %d", cut.Block, cut.Have, cut.Max), "")
	}
	vars := r.promptVars()
	if r.err != nil {
		return
	}
	r.persona(vars)
	if text = r.added(r.named(vars, text, at)); text != "" {
		r.out.Prompt = append(r.out.Prompt, spec.Layer{Name: spec.Profile, Text: text})
	}
	r.out.Files = c.Files()
	r.environment()
}

// environment writes the layer about where the agent works. The instructions are
// those of the tree that it works in.
func (r *resolver) environment() {
	s := prompt.Surroundings{Root: r.root, Workspace: r.out.Workspace, Platform: r.in.Platform}
	if t := r.out.Worktree; t != nil && t.Dir != "" {
		root, err := os.OpenRoot(t.Root)
		if err != nil {
			r.err = fmt.Errorf("worktree: %w", err)
			return
		}
		defer root.Close()
		s.Root, s.Branch, s.Missing = root, t.Branch, t.Notes
		for _, name := range prompt.InstructionFiles() {
			r.out.Files = append(r.out.Files, filepath.Join(t.Root, name))
		}
	} else {
		r.out.Files = append(r.out.Files, prompt.InstructionFiles()...)
	}
	env, files, ds := s.Compose()
	r.ds = append(r.ds, ds...)
	r.out.Prompt = append(r.out.Prompt, spec.Layer{Name: spec.Environment, Text: env})
	r.set(spec.Environment, source.Origin{Layer: source.Builtin, File: strings.Join(files, ", ")})
}

// ownPrompt finds the prompt in the strongest layer that has one: as its
// system-prompt, as blocks, or as the body of the profile that speaks.
func (r *resolver) ownPrompt(c *prompt.Composer) (string, source.Origin) {
	speaker := r.in.Profile.Speaker()
	system := pick(r, "system-prompt", func(p *profile.Profile) profile.Value[string] { return p.SystemPrompt })
	for i := len(r.layers) - 1; i >= 0; i-- {
		l := r.layers[i]
		blocks, hasBlocks := l.Keys.Blocks()
		switch {
		case system.Set && r.won["system-prompt"] == i:
			c.Fill = r.filler(l.Keys, "system-prompt", system.At)
			var text string
			text, system.At, r.err = c.Text(system)
			return text, system.At
		case hasBlocks:
			c.Fill = r.filler(l.Keys, "system-prompt", blocks.At)
			blocks.At.Layer = l.Name
			var text string
			text, r.err = c.Key(blocks, l.Keys.Dialect != configDialect)
			return text, blocks.At
		case i >= r.own && l.Keys.File == speaker.File && l.Keys.Name == speaker.Name && strings.TrimSpace(speaker.Body) != "":
			at := speaker.BodyAt
			at.Layer = l.Name
			return strings.TrimSpace(speaker.Body), at
		}
	}
	at := r.in.Profile.BodyAt
	at.Layer = source.Profile
	return "", at
}

// filler gives what fills in the variables of a profile whose dialect has them.
func (r *resolver) filler(keys *profile.Profile, key string, at source.Origin) func(string) (string, error) {
	if keys.Dialect != configDialect {
		return nil
	}
	return r.fill(keys.Name, key, at)
}

// promptVars gathers what prompts may name. A text of the key vars wins over
// one of the same name in a weaker layer.
func (r *resolver) promptVars() prompt.Vars {
	v := prompt.Vars{
		Workspace: r.out.Workspace, Platform: r.in.Platform,
		Name: r.out.Name, Title: r.out.Title, Description: r.out.Description, Own: map[string]string{},
	}
	for _, l := range r.layers {
		for _, x := range l.Keys.Extra {
			if x.Key != "vars" || !x.Known {
				continue
			}
			own, err := prompt.ReadVars(x)
			if err != nil {
				r.err = err
				return v
			}
			for name, text := range own {
				v.Own[name] = text
			}
		}
	}
	return v
}

// named fills in the variables that a text names, and says which of them nobody sets.
func (r *resolver) named(v prompt.Vars, text string, at source.Origin) string {
	out, unset := v.Expand(text)
	for _, name := range unset {
		r.note(prompt.CodeUnsetVar, profile.SeverityWarning, at, "vars",
			fmt.Sprintf("the prompt names {{ .Vars.%s }}, which nobody sets; it stays as it is", name), fmt.Sprintf("set vars: {%s: …}", name))
	}
	return out
}

// persona puts the text that stands beside the profile's folder first. It is the
// profile's own: parents and other layers have none to give.
func (r *resolver) persona(vars prompt.Vars) {
	at := source.Origin{Layer: source.Builtin}
	if p := r.in.Profile.Persona; p.Set {
		at = p.At
		at.Layer = source.Profile
		if text := r.named(vars, strings.TrimSpace(p.V), at); text != "" {
			r.out.Prompt = append(r.out.Prompt, spec.Layer{Name: spec.Persona, Text: text})
		}
	}
	r.set(spec.Persona, at)
}
