package prompt

import (
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// block is one part of a prompt as the key prompt keeps it, in its order.
type block struct {
	Text      string `yaml:"text"`
	MaxLength int    `yaml:"max-length"`
}

// FromBlocks puts the prompt of a profile together from the blocks under its
// key prompt, some of which are read from files of the workspace: in their
// order, without the empty ones, each cut to its length. fill is given each
// text before it is looked at. cut lists the blocks that were longer; ok is
// false without such a key.
func FromBlocks(workspace *os.Root, p *profile.Profile, fill func(string) (string, error)) (text string, at source.Origin, cut []string, ok bool, err error) {
	for _, x := range p.Extra {
		if x.Key != "prompt" || !x.Known {
			continue
		}
		var key struct {
			K struct {
				Blocks yaml.Node `yaml:"blocks"`
			} `yaml:"k"`
		}
		if err := yaml.Load(append([]byte("k:"), x.YAML...), &key); err != nil {
			return "", x.At, nil, true, fmt.Errorf("%s: prompt: %w", x.At, err)
		}
		text, cut, err = join(workspace, x.At, key.K.Blocks.Content, fill)
		return text, x.At, cut, true, err
	}
	return "", source.Origin{}, nil, false, nil
}

func join(workspace *os.Root, at source.Origin, pairs []*yaml.Node, fill func(string) (string, error)) (string, []string, error) {
	var parts, cut []string
	for i := 0; i+1 < len(pairs); i += 2 {
		b := block{Text: pairs[i+1].Value}
		if pairs[i+1].Kind == yaml.MappingNode {
			if err := pairs[i+1].Load(&b); err != nil {
				return "", nil, fmt.Errorf("%s: prompt.blocks.%s: %w", at, pairs[i].Value, err)
			}
		}
		filled, err := fill(b.Text)
		if err != nil {
			return "", nil, err
		}
		text, _, err := Own(workspace, &profile.Profile{}, profile.Value[string]{V: filled, Set: true, At: at})
		if err != nil {
			return "", nil, err
		}
		if runes := []rune(text); b.MaxLength > 0 && len(runes) > b.MaxLength {
			text = string(runes[:b.MaxLength])
			cut = append(cut, pairs[i].Value)
		}
		if text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n\n"), cut, nil
}
