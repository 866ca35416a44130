package prompt

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// Strategy puts a prompt together in code. Blocks are given in written order,
// with their files read and none of them empty. It must be safe for concurrent
// use.
type Strategy interface {
	Compose(blocks []Block) (string, error)
}

// Block is one part of a prompt.
type Block struct{ Name, Text string }

// Composer finds the text of one profile's prompt. It is not safe for
// concurrent use.
type Composer struct {
	// Fill fills in what a text of the profile itself holds in place of
	// values, before the text is looked at; nil: nothing. Prompts that it
	// refers to are not its own.
	Fill func(string) (string, error)
	// Cut lists the blocks that were longer than their template allows.
	Cut []Cut

	shelf
	code map[string]Strategy
}

// Cut says that a block has more characters than it may have.
type Cut struct {
	Block     string
	At        source.Origin
	Have, Max int
}

// NewComposer composes from the prompts and strategies of a library, which may
// be nil, and from files of the workspace. code holds strategies by name that
// are written in Go.
func NewComposer(workspace *os.Root, lib *Library, code map[string]Strategy) *Composer {
	return &Composer{shelf: shelf{lib: cmp.Or(lib, &Library{}), workspace: workspace}, code: code}
}

// Files lists the files that were looked at, relative to the workspace.
func (c *Composer) Files() []string { return c.files }

// Text gives a prompt as system-prompt says it: a text, file:PATH, or {{name}};
// and where it is written. A file that cannot be read is a *FileError, a
// reference to nothing a *ReferenceError.
func (c *Composer) Text(system profile.Value[string]) (string, source.Origin, error) {
	name, ok := referred(strings.TrimSpace(system.V))
	if !ok {
		text, err := c.own(system.V)
		if err != nil {
			return "", system.At, err
		}
		return c.read(text, system.At)
	}
	in, err := c.instance(name, system.At)
	if err != nil {
		return "", system.At, err
	}
	text, err := c.compose(in.Template, in.At, in.Texts)
	return text, in.At, err
}

// Key gives the prompt that the key prompt of a profile describes. written says
// that its YAML stands in the file as it is, so that its lines are those of the
// file.
func (c *Composer) Key(x profile.Extra, written bool) (string, error) {
	value, err := x.Node()
	if err != nil {
		return "", fmt.Errorf("%s: prompt: %w", x.At, err)
	}
	p := parser{file: x.At.File, layer: x.At.Layer, above: x.At.Line - 1}
	if !written {
		p.only = x.At
	}
	in := p.instance("prompt", value)
	if len(p.problems) > 0 {
		return "", p.problems[0]
	}
	for i := range in.Texts {
		text, err := c.own(in.Texts[i].Text)
		if err != nil {
			return "", err
		}
		in.Texts[i].Text = text
	}
	return c.compose(in.Template, x.At, in.Texts)
}

// compose joins the blocks in their order, without the empty ones, each cut to
// its length.
func (c *Composer) compose(template string, at source.Origin, texts []Text) (string, error) {
	if s, ok := c.code[template]; ok {
		return c.inCode(s, template, at, texts)
	}
	t, err := c.template(template, at)
	if err != nil {
		return "", err
	}
	if texts, err = t.arrange(texts); err != nil {
		return "", err
	}
	var parts []string
	for _, x := range texts {
		text, err := c.block(x)
		if err != nil {
			return "", err
		}
		if text = c.shorten(x, text); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n\n"), nil
}

// block gives the text of a block.
func (c *Composer) block(x Text) (string, error) {
	if reference.MatchString(strings.TrimSpace(x.Text)) {
		return "", &Problem{x.At, x.Name, "a block takes a text or file:PATH; only a whole prompt refers to another"}
	}
	text, _, err := c.read(x.Text, x.At)
	return text, err
}

func (c *Composer) inCode(s Strategy, name string, at source.Origin, texts []Text) (string, error) {
	var blocks []Block
	for _, x := range texts {
		text, err := c.block(x)
		if err != nil {
			return "", err
		}
		if text != "" {
			blocks = append(blocks, Block{x.Name, text})
		}
	}
	text, err := s.Compose(blocks)
	if err != nil {
		return "", fmt.Errorf("%s: strategy %s: %w", at, name, err)
	}
	return strings.TrimSpace(text), nil
}

// arrange puts the texts in the order of the template and gives each the length
// that it may have. What a text says itself stands.
func (t Template) arrange(texts []Text) ([]Text, error) {
	out := slices.Clone(texts)
	order := make(map[string]int, len(out))
	for i := range out {
		x := &out[i]
		order[x.Name] = i
		slot := slices.IndexFunc(t.Slots, func(s Slot) bool { return s.Name == x.Name })
		switch {
		case slot >= 0:
			order[x.Name] = t.Slots[slot].Order
			if most := t.Slots[slot].MaxLength; most > 0 && !x.MaxLength.Set {
				x.MaxLength = profile.Value[int]{V: most, Set: true}
			}
		case !t.Open:
			return nil, &Problem{x.At, x.Name, t.noBlock(x.Name)}
		}
		if x.Order.Set {
			order[x.Name] = x.Order.V
		}
	}
	slices.SortStableFunc(out, func(a, b Text) int { return order[a.Name] - order[b.Name] })
	return out, nil
}

func (t Template) noBlock(name string) string {
	names := make([]string, len(t.Slots))
	for i, s := range t.Slots {
		names[i] = s.Name
	}
	return fmt.Sprintf("the strategy %s has no block %q; it has %s", t.Name, name, strings.Join(names, ", "))
}

// shorten cuts a block to its length, in characters.
func (c *Composer) shorten(x Text, text string) string {
	most := x.MaxLength.V
	if most == 0 || len(text) <= most {
		return text
	}
	have := utf8.RuneCountInString(text)
	if have <= most {
		return text
	}
	c.Cut = append(c.Cut, Cut{x.Name, x.At, have, most})
	return string([]rune(text)[:most])
}

// own fills in a text of the profile itself.
func (c *Composer) own(text string) (string, error) {
	if c.Fill == nil {
		return text, nil
	}
	return c.Fill(text)
}

// read gives a text that may be file:PATH, and where it is written.
func (c *Composer) read(text string, at source.Origin) (string, source.Origin, error) {
	text = strings.TrimSpace(text)
	path, ok := strings.CutPrefix(text, filePrefix)
	if !ok || strings.Contains(path, "\n") {
		return text, at, nil
	}
	path = strings.TrimSpace(path)
	c.files = append(c.files, path)
	data, err := read(c.workspace, path, maxFile)
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("it has more than %d bytes", maxFile)
	}
	if err == nil && !utf8.Valid(data) {
		err = errors.New("it is not UTF-8")
	}
	if err != nil {
		return "", at, &FileError{at, path, err}
	}
	return strings.TrimSpace(string(data)), source.Origin{Layer: at.Layer, File: path, Line: 1}, nil
}
