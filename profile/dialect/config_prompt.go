package dialect

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
)

// systemPrompt reads the text of a prompt, or takes it from the instance of the
// file that it refers to. A reference to nothing in the file may be one to a
// prompt of the workspace.
func (b *configProfile) systemPrompt(f field) {
	v := b.d.text(f)
	if !v.Set {
		return
	}
	b.drop("prompt")
	b.d.p.SystemPrompt = v
	if !isRef(v.V) || len(b.c.prompts) == 0 {
		return
	}
	in, ok := b.c.find(f, b.c.prompts, "system_prompt")
	if !ok {
		return
	}
	texts := mapping()
	var template []promptBlock
	var strategy string
	for _, e := range b.c.fields(in.field) {
		switch e.key {
		case "id", "description":
		case "type":
			template, strategy = b.template(e)
		default:
			setChild(texts, e.key, e.node)
		}
	}
	b.fill(f, strategy, template, texts)
}

// promptBlock is a part of a prompt: where it stands, and how many characters
// it may have. Both may be left out.
type promptBlock struct {
	name             string
	order, maxLength profile.Value[int64]
}

// template finds the blocks of a strategy of the file, or the name of one that
// is built in.
func (b *configProfile) template(f field) ([]promptBlock, string) {
	name := refName(deref(f.node).Value, "system_prompt_strategy")
	i := slices.IndexFunc(b.c.strategies, func(in instance) bool { return in.name == name })
	if i < 0 {
		switch name {
		case "agent":
			return builtinBlocks("identity", 500, "instructions", 2000, "tools", 1000, "constraints", 500), name
		case "minimal":
			return builtinBlocks("identity", 1000, "task", 3000), name
		case "custom":
			return nil, name
		}
		b.c.find(f, b.c.strategies, "system_prompt_strategy") // says that there is none
		return nil, ""
	}
	var out []promptBlock
	for _, e := range b.c.fields(b.c.strategies[i].field) {
		if e.key != "blocks" || deref(e.node).Kind != yaml.SequenceNode {
			continue
		}
		for _, item := range deref(e.node).Content {
			out = append(out, b.block(e, item))
		}
	}
	slices.SortStableFunc(out, func(x, y promptBlock) int { return cmp.Compare(x.order.V, y.order.V) })
	return out, "custom"
}

// builtinBlocks makes a template of names and lengths.
func builtinBlocks(pairs ...any) []promptBlock {
	var out []promptBlock
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, promptBlock{
			name:      pairs[i].(string),
			order:     profile.Value[int64]{V: int64(i / 2), Set: true},
			maxLength: profile.Value[int64]{V: int64(pairs[i+1].(int)), Set: true},
		})
	}
	return out
}

func (b *configProfile) block(f field, item *yaml.Node) promptBlock {
	var out promptBlock
	f.node, f.at = item, b.d.at(item)
	for _, e := range b.c.fields(f) {
		switch e.key {
		case "name":
			out.name = kebab(b.d.text(e).V)
		case "order":
			out.order = b.d.count(e, 0)
		case "max-length":
			out.maxLength = b.d.count(e, 1)
		default:
			b.unknown("system_prompt_strategy", e)
		}
	}
	return out
}

// fill keeps the prompt as the native key says it. When no block is read from a
// file, the prompt is also put together here.
func (b *configProfile) fill(f field, strategy string, template []promptBlock, texts *yaml.Node) {
	blocks := mapping()
	for _, t := range template {
		if text, ok := child(texts, t.name); ok {
			setChild(blocks, t.name, t.node(text))
		}
	}
	for i := 0; i+1 < len(texts.Content); i += 2 {
		name := texts.Content[i].Value
		switch {
		case template == nil:
			setChild(blocks, name, texts.Content[i+1])
		case !has(blocks, name):
			b.d.report(profile.CodeUnknownKey, b.d.at(texts.Content[i+1]), name, fmt.Sprintf("the template has no block %s; it is left out", name), "")
		}
	}
	prompt := mapping()
	if strategy != "" {
		prompt.Content = append(prompt.Content, str("strategy"), str(strategy))
	}
	prompt.Content = append(prompt.Content, str("blocks"), blocks)
	b.keep("prompt", f, prompt)
	b.compose(f, blocks)
}

func (t promptBlock) node(text *yaml.Node) *yaml.Node {
	out := mapping(str("text"), text)
	for _, n := range []struct {
		key string
		v   profile.Value[int64]
	}{{"order", t.order}, {"max-length", t.maxLength}} {
		if n.v.Set {
			out.Content = append(out.Content, str(n.key), &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(n.v.V, 10)})
		}
	}
	return out
}

// compose joins the blocks, each cut to its length, without the empty ones.
func (b *configProfile) compose(f field, blocks *yaml.Node) {
	var parts []string
	for i := 0; i+1 < len(blocks.Content); i += 2 {
		name, n := blocks.Content[i].Value, deref(blocks.Content[i+1])
		most := 0
		if n.Kind == yaml.MappingNode {
			if m, ok := child(n, "max-length"); ok {
				most, _ = strconv.Atoi(m.Value)
			}
			n, _ = child(n, "text")
			n = deref(n)
		}
		if n.Kind != yaml.ScalarNode {
			b.d.report(profile.CodeWrongType, b.d.at(n), name, fmt.Sprintf("the block %s takes text, not %s", name, kindName(n)), "")
			return
		}
		text := strings.TrimSpace(n.Value)
		if strings.HasPrefix(text, "file:") {
			b.d.p.SystemPrompt = profile.Value[string]{}
			return
		}
		if runes := []rune(text); most > 0 && len(runes) > most {
			text = string(runes[:most])
			b.d.report(profile.CodeCut, b.d.at(n), name, fmt.Sprintf("the block %s has %d characters; it is cut to %d", name, len(runes), most), "")
		}
		if text != "" {
			parts = append(parts, text)
		}
	}
	b.d.p.SystemPrompt = set(strings.Join(parts, "\n\n"), f)
}
