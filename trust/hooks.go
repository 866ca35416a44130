package trust

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/source"
)

// Hooks reads the hooks that act in a value of the key hooks, in written order.
// profile names who says it; empty: no profile does. at gives the place of a
// node. An error is a *HookError.
func (v View) Hooks(profile, key string, value *yaml.Node, at func(*yaml.Node) source.Origin) ([]hook.Entry, error) {
	var out []hook.Entry
	for _, f := range find(key, value) {
		if f.kind != Hook || isNull(f.node) {
			continue
		}
		i := NewItem(Hook, profile, f.key, at(f.node), f.node)
		if !v.State(i).Acts() {
			continue
		}
		e, err := hook.ParseEntry(strings.TrimPrefix(f.key, key+"."), f.node)
		if err != nil {
			return nil, &HookError{i, err}
		}
		e.At, e.Profile, e.Key, e.Digest = i.At, profile, f.key, i.Digest
		out = append(out, e)
	}
	return out, nil
}

// HookError says what is wrong with a hook.
type HookError struct {
	Item Item
	Err  error
}

func (e *HookError) Error() string { return e.Item.Key + ": " + e.Err.Error() }

// OfHook is the item that a hook is.
func OfHook(e *hook.Entry) Item {
	return Item{Kind: Hook, Profile: e.Profile, Key: e.Key, At: e.At, Text: Show(e.Does()), Digest: e.Digest}
}
