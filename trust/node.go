package trust

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"go.yaml.in/yaml/v4"
)

// Bounds of a value: how deep it nests, and its nodes with aliases written out.
const (
	maxDepth = 100
	maxNodes = 10_000
)

func deref(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool {
	if n == nil {
		return true
	}
	n = deref(n)
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}

func child(n *yaml.Node, key string) (*yaml.Node, bool) {
	if n.Kind != yaml.MappingNode {
		return nil, false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if deref(n.Content[i]).Value == key {
			return n.Content[i+1], true
		}
	}
	return nil, false
}

func scalar(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

// Digest is of a kind and a value, whatever spelling and comments it has. It is
// empty for one that is too large or too deep to be shown to anybody.
func Digest(kind Kind, value *yaml.Node) string {
	d := digester{hash: sha256.New(), left: maxNodes}
	d.text(string(kind))
	d.node(value, maxDepth)
	if d.left < 0 {
		return ""
	}
	return hex.EncodeToString(d.hash.Sum(nil))
}

type digester struct {
	hash hash.Hash
	left int // nodes; below 0: there were too many
}

// text writes a text with its length, so that no two lists of texts are the same.
func (d *digester) text(s string) {
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(len(s)))
	d.hash.Write(size[:])
	d.hash.Write([]byte(s))
}

func (d *digester) node(n *yaml.Node, depth int) {
	n = deref(n)
	if d.left--; d.left < 0 || depth == 0 {
		d.left = -1
		return
	}
	switch n.Kind {
	case yaml.MappingNode:
		d.text("map")
	case yaml.SequenceNode:
		d.text("list")
	default:
		d.text("text")
		d.text(n.Value)
		return
	}
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(len(n.Content)))
	d.hash.Write(size[:])
	for _, c := range n.Content {
		d.node(c, depth-1)
	}
}
