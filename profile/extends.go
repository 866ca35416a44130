package profile

import (
	"bytes"
	"slices"
	"strings"
)

// MaxParents is how many parents a profile may have, those of its parents
// included.
const MaxParents = 64

// Linked gives a copy of the profile with its parents, the weakest first, and
// with a revision that changes when one of theirs does.
func (p *Profile) Linked(parents []*Profile) *Profile {
	c := *p
	c.Parents = parents
	c.Seal()
	return &c
}

// Layers gives the parents and the profile, the weakest first, each with what
// counts of it: the parents without what is never inherited, and without a
// system-prompt that a stronger one's body replaces.
func (p *Profile) Layers() []*Profile {
	layers := make([]*Profile, 0, len(p.Parents)+1)
	speaker := p.Speaker()
	for _, parent := range p.Parents {
		c := *parent
		c.Title, c.Hidden = Value[string]{}, Value[bool]{}
		c.Extra = slices.DeleteFunc(slices.Clone(c.Extra), func(e Extra) bool { return e.Key == "profile-id" || e.Key == "config-id" })
		if parent != speaker && !speaker.SystemPrompt.Set {
			c.SystemPrompt = Value[string]{}
			c.Extra = slices.DeleteFunc(c.Extra, func(e Extra) bool { return e.Key == "prompt" })
		}
		layers = append(layers, &c)
	}
	return append(layers, p)
}

// Speaker gives the profile whose prompt counts: this one or, if it has none,
// the strongest parent that has one.
func (p *Profile) Speaker() *Profile {
	if p.speaks() {
		return p
	}
	for _, parent := range slices.Backward(p.Parents) {
		if parent.speaks() {
			return parent
		}
	}
	return p
}

func (p *Profile) speaks() bool {
	if p.SystemPrompt.Set || strings.TrimSpace(p.Body) != "" {
		return true
	}
	_, ok := p.Blocks()
	return ok
}

// Blocks gives the key prompt, which makes a prompt of blocks: a map. A text
// under this key is something else, of another tool.
func (p *Profile) Blocks() (Extra, bool) {
	i := slices.IndexFunc(p.Extra, func(e Extra) bool {
		return e.Key == "prompt" && e.Known && (bytes.HasPrefix(e.YAML, []byte("\n")) || bytes.HasPrefix(e.YAML, []byte(" {")))
	})
	if i < 0 {
		return Extra{}, false
	}
	return p.Extra[i], true
}

// Over gives the list on top of a weaker one: itself or, when it is to be
// added, both.
func (t Tools) Over(weaker Tools) Tools {
	if !t.Add {
		return t
	}
	return Tools{
		Names: addNew(weaker.Names, t.Names), All: weaker.All || t.All, Add: weaker.Add,
	}
}

// addNew appends the items that the list does not have.
func addNew(list, more []string) []string {
	out := append(make([]string, 0, len(list)+len(more)), list...)
	for _, s := range more {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
