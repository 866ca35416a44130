package dialect

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
)

// configTables are the tables in which unknown keys may stand, the longer
// before those that they begin with.
func configTables() []string {
	return []string{
		"agent.profile", "agent", "provider", "session", "tools", "execution.retry", "execution.cache", "execution",
		"callbacks", "hooks", "mcp", "system_prompt_strategy",
	}
}

// extra writes a key that is not acted on: in this format's own words where it
// has some, else as it was read here.
func (e *configEncoder) extra(x profile.Extra) {
	n, err := tomlExtra(x)
	if err != nil {
		e.lose(x.Key, x.At, "")
		return
	}
	switch {
	case x.Known && (x.Key == "config-id" || x.Key == "profile-id") && n.Kind == yaml.ScalarNode:
		e.put(x.Key, n, "agent", "profile", snake(x.Key))
	case x.Known && x.Key == "skills" && n.Kind == yaml.SequenceNode:
		e.put(x.Key, n, "agent", "profile", "skills")
	case x.Known && x.Key == "context" && n.Kind == yaml.MappingNode && e.renames(contextWords, n):
		e.wrote[x.Key] = true
		setChild(e.root, "compaction", renamed(n, func(key string, v *yaml.Node) (string, *yaml.Node, bool) {
			return snake(back(contextWords, key)), v, true
		}, snake))
	case x.Known && x.Key == "model-config" && n.Kind == yaml.MappingNode && e.modelConfig(n):
	case x.Known && x.Key == "session" && n.Kind == yaml.MappingNode && onlyKeys(n, "scope", "rotate-after"):
		e.wrote[x.Key] = true
		setChild(e.root, "session", renamed(n, func(string, *yaml.Node) (string, *yaml.Node, bool) { return "", nil, false }, snake))
	case x.Known && e.own():
		e.put(x.Key, n, "agent", "profile", snake(x.Key))
	case e.own() && e.unknown(x.Key, n):
	default:
		e.lose(x.Key, x.At, "")
	}
}

func onlyKeys(n *yaml.Node, keys ...string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		ok := false
		for _, k := range keys {
			ok = ok || n.Content[i].Value == k
		}
		if !ok {
			return false
		}
	}
	return true
}

// renames says whether the keys of a map come back from this format's words:
// each in the native spelling, and none that means something else there.
func (e *configEncoder) renames(words []word, n *yaml.Node) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i].Value
		if kebab(key) != key || forth(words, back(words, key)) != key || back(words, key) == key && forth(words, key) != key {
			return false
		}
		switch key {
		case "instances", "id", "description", "enabled":
			return false
		}
	}
	return true
}

// modelConfig writes what is known of the model into the provider's table.
func (e *configEncoder) modelConfig(n *yaml.Node) bool {
	if !e.renames(modelWords, n) {
		return false
	}
	out := mapping()
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, v := n.Content[i].Value, n.Content[i+1]
		switch key {
		case "model", "provider", "api-key", "url":
			return false
		case "key-env":
			v = str("${" + v.Value + "}")
			if !variable.MatchString(v.Value) {
				return false
			}
			setChild(out, "api_key", v)
			continue
		case "api":
			if v.Kind != yaml.ScalarNode || forth(apiWords, back(apiWords, v.Value)) != v.Value {
				return false
			}
			api := *v
			api.Value = back(apiWords, v.Value)
			v = &api
		case "prices":
			if v.Kind != yaml.MappingNode || !e.renames(priceWords, v) {
				return false
			}
			v = renamed(v, func(key string, v *yaml.Node) (string, *yaml.Node, bool) {
				return snake(back(priceWords, key)), v, true
			}, snake)
		}
		setChild(out, snake(back(modelWords, key)), v)
	}
	for i := 0; i+1 < len(out.Content); i += 2 {
		e.put("model-config", out.Content[i+1], "provider", out.Content[i].Value)
	}
	return true
}

// unknown writes a key that nobody knows back to where it stood.
func (e *configEncoder) unknown(full string, n *yaml.Node) bool {
	var path []string
	rest := full
	for _, t := range configTables() {
		if r, ok := strings.CutPrefix(full, t+"."); ok {
			path, rest = strings.Split(t, "."), r
			break
		}
	}
	if strings.HasPrefix(rest, `"`) {
		plain, err := strconv.Unquote(rest)
		if err != nil {
			return false
		}
		rest = plain
	}
	e.put(full, n, append(path, rest)...)
	return true
}
