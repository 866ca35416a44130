package trust

import (
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
)

// entries calls do for each key of a map and its value, or for each item of a
// list under an empty key. drop takes it out.
func entries(n *yaml.Node, do func(key string, value *yaml.Node, drop func())) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, v := n.Content[i], n.Content[i+1]
			do(deref(k).Value, deref(v), func() { remove(n, k, v) })
		}
	case yaml.SequenceNode:
		for _, v := range n.Content {
			do("", deref(v), func() { remove(n, v) })
		}
	}
}

func remove(from *yaml.Node, nodes ...*yaml.Node) {
	from.Content = slices.DeleteFunc(slices.Clone(from.Content), func(c *yaml.Node) bool { return slices.Contains(nodes, c) })
}

// findHooks takes hooks by their event, each a list of entries or one entry.
func findHooks(key string, n *yaml.Node) (out []found) {
	if n.Kind == yaml.ScalarNode {
		return []found{{Hook, key, n, func() { empty(n) }}}
	}
	entries(n, func(event string, list *yaml.Node, drop func()) {
		name := join(key, event)
		if list.Kind != yaml.SequenceNode {
			out = append(out, found{Hook, name, list, drop})
			return
		}
		entries(list, func(_ string, hook *yaml.Node, drop func()) {
			out = append(out, found{Hook, name, hook, drop})
		})
	})
	return out
}

// findNamed takes each entry of a map by its name, and of a list what is more
// than the name of something that is defined elsewhere.
func findNamed(kind Kind) func(string, *yaml.Node) []found {
	return func(key string, n *yaml.Node) (out []found) {
		if n.Kind == yaml.ScalarNode {
			if strings.Contains(n.Value, "/") {
				out = append(out, found{kind, key, n, func() { empty(n) }})
			}
			return out
		}
		entries(n, func(name string, value *yaml.Node, drop func()) {
			if value.Kind == yaml.ScalarNode && n.Kind == yaml.SequenceNode && !strings.Contains(value.Value, "/") {
				return
			}
			if name != "" && profile.TakesAway(value) { // it takes something away
				return
			}
			if v, ok := child(value, "name"); ok && name == "" {
				name = deref(v).Value
			}
			out = append(out, found{kind, join(key, name), value, drop})
		})
		return out
	}
}

// findTools takes the commands of a workspace's own tools.
func findTools(key string, n *yaml.Node) (out []found) {
	entries(n, func(name string, value *yaml.Node, drop func()) {
		if command, ok := child(value, "command"); ok {
			out = append(out, found{Tool, join(key, name), deref(command), drop})
		}
	})
	return out
}

// findToolsets takes the toolsets that name more than themselves.
func findToolsets(key string, n *yaml.Node) (out []found) {
	entries(n, func(_ string, value *yaml.Node, drop func()) {
		plain := true
		entries(value, func(k string, _ *yaml.Node, _ func()) { plain = plain && (k == "type" || k == "tools") })
		if !plain {
			out = append(out, found{Tool, key, value, drop})
		}
	})
	return out
}

// findModel takes what a profile says of its provider. Each item is pinned with
// the others: a key must not go to another address than the one that was seen.
func findModel(key string, n *yaml.Node) (out []found) {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	all := &yaml.Node{Kind: yaml.MappingNode}
	entries(n, func(k string, value *yaml.Node, drop func()) {
		kind := Kind("")
		switch Kebab(k) {
		case "api":
		case "base-url", "url":
			if !Loopback(value.Value) {
				kind = BaseURL
			}
		case "key-env":
			kind = KeyEnv
		case "key-command":
			kind = KeyCommand
		case "headers":
			kind = Headers
		default:
			return
		}
		all.Content = append(all.Content, scalar(k), value)
		if kind != "" {
			out = append(out, found{kind, join(key, k), all, drop})
		}
	})
	return out
}

// findSandbox takes what lets commands out of the sandbox, or lets them read
// beyond the workspace; and the image, which would be fetched.
func findSandbox(key string, n *yaml.Node) (out []found) {
	switch n.Kind {
	case yaml.ScalarNode:
		if open(n.Value) {
			out = append(out, found{Sandbox, key, n, func() { empty(n) }})
		}
	case yaml.MappingNode:
		entries(n, func(k string, v *yaml.Node, drop func()) {
			switch k = Kebab(k); {
			case (k == "kind" || k == "preset") && open(v.Value), k == "image":
				out = append(out, found{Sandbox, join(key, k), v, drop})
			case k == "read" && v.Kind == yaml.ScalarNode:
				if beyond(v.Value) {
					out = append(out, found{Path, join(key, k), v, drop})
				}
			case k == "read":
				entries(v, func(_ string, p *yaml.Node, drop func()) {
					if beyond(p.Value) {
						out = append(out, found{Path, join(key, k), p, drop})
					}
				})
			}
		})
	}
	return out
}

// beyond says whether a path, or one of several, may lead out of the workspace by
// itself.
func beyond(paths string) bool {
	for path := range strings.SplitSeq(paths, ",") {
		if path = strings.TrimSpace(path); !filepath.IsLocal(path) || strings.HasPrefix(path, "~") || strings.Contains(path, "$") {
			return true
		}
	}
	return false
}

// open says whether a word for a sandbox means that there is none, or hardly any.
func open(word string) bool {
	return word == "none" || word == "danger-full-access" || word == "maintenance"
}

func findWhole(kind Kind) func(string, *yaml.Node) []found {
	return func(key string, n *yaml.Node) []found { return []found{{kind, key, n, func() { empty(n) }}} }
}

// empty makes a value nothing.
func empty(n *yaml.Node) { *n = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"} }

// Loopback says whether an address is on this machine.
func Loopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}

func join(path, key string) string {
	if path == "" || key == "" {
		return path + key
	}
	return path + "." + key
}
