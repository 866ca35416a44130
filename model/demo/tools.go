package demo

import (
	"encoding/json"
	"slices"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

// offered is a tool that the request offers, with what its schema says of its
// arguments.
type offered struct {
	name     string
	known    map[string]json.RawMessage
	required []string
}

// argument is a value under the first of its names that the tool knows.
type argument struct {
	names []string
	value any
}

func pathArg(v string) argument {
	return argument{[]string{"path", "file_path", "filePath", "file"}, v}
}
func patternArg(v string) argument {
	return argument{[]string{"pattern", "regex", "query"}, v}
}
func offsetArg(v int) argument { return argument{[]string{"offset", "start_line", "from"}, v} }
func limitArg(v int) argument  { return argument{[]string{"limit", "max_lines", "lines"}, v} }

// find returns the offered tool of a name, or nil.
func find(p *model.Prefix, name string) *offered {
	if p == nil {
		return nil
	}
	i := slices.IndexFunc(p.Tools, func(t *model.ToolDef) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(p.Tools[i].Schema, &schema) != nil {
		return nil
	}
	return &offered{name, schema.Properties, schema.Required}
}

// call makes a call with the first argument and those of the others that the
// tool knows. It returns none if the tool is not offered or wants what the
// stand-in does not have.
func (o *offered) call(first argument, others ...argument) []message.ToolCall {
	if o == nil {
		return nil
	}
	in := map[string]any{}
	for _, a := range append([]argument{first}, others...) {
		for _, n := range a.names {
			if _, ok := o.known[n]; ok {
				in[n] = a.value
				break
			}
		}
	}
	complete := slices.ContainsFunc(first.names, func(n string) bool { return in[n] != nil })
	for _, r := range o.required {
		complete = complete && in[r] != nil
	}
	if !complete {
		return nil
	}
	b, err := json.Marshal(in)
	if err != nil {
		return nil
	}
	return []message.ToolCall{{Name: o.name, Input: b}}
}

// value reads an argument of an earlier call back.
func value[T any](c message.ToolCall, a argument) (v T) {
	var in map[string]json.RawMessage
	if json.Unmarshal(c.Input, &in) != nil {
		return v
	}
	for _, n := range a.names {
		if raw, ok := in[n]; ok {
			_ = json.Unmarshal(raw, &v) // another type leaves the zero value
			return v
		}
	}
	return v
}
