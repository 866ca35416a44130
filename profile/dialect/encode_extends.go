package dialect

import (
	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/schema"
)

// inherits says whether what refers to parents can be written: in the dialects
// that have it, and in a file's own.
func (e *encoder) inherits() bool {
	return e.g.dialect == "roster" || e.g.dialect == "knot" || e.g.dialect == e.p.Dialect
}

func (e *encoder) extends() {
	if v := e.p.Extends; v.Set && e.inherits() && !e.wrote["extends"] {
		e.node("extends", list(v.V))
	}
}

// plus is the key of a list that is added to that of the parents.
func plus(key string, add bool) string {
	if add {
		return "+" + key
	}
	return key
}

// listKey is the key that the tool list is written under. Where parents cannot
// be written, the list alone is: it allows less than was meant, which is said.
func (e *encoder) listKey(key string) string {
	if t := e.p.Tools; t.V.Add && !e.inherits() {
		e.lose("+"+key, t.At, "the tools of the parents are not in the list")
		return key
	}
	return plus(key, e.p.Tools.V.Add)
}

// fits says whether a key that is kept can be written: natively, another
// dialect's key of the same name must have the form that ours has.
func (e *encoder) fits(x profile.Extra) bool {
	if e.g.dialect != "roster" || !x.Known || e.p.Dialect == "roster" || e.p.Dialect == "knot" {
		return true
	}
	key, ok := schema.Find(x.Key)
	if !ok {
		return true
	}
	var doc yaml.Node
	if err := yaml.Load(append([]byte("key:"), x.YAML...), &doc); err != nil || len(doc.Content) != 1 || len(doc.Content[0].Content) != 2 {
		return false
	}
	d := &decoder{doc: &document{}, p: &profile.Profile{}}
	return d.fits(field{key: x.Key, written: x.Key, node: doc.Content[0].Content[1]}, &key.Shape)
}
