package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/source"
)

const (
	maxFile   = 8 << 20 // bytes of a script
	maxWait   = time.Hour
	maxErrors = 20 // reported of one script
)

// Error is one fault of a script's file. Parse joins all it finds; errors.As
// reaches the first.
type Error struct {
	At      source.Origin
	Message string
	Hint    string // what to write instead; may be empty
}

func (e *Error) Error() string {
	s := e.At.String() + ": " + e.Message
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Load reads a script from a YAML file of at most 8 MiB.
func Load(path string) (*Script, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe is not waited for
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("script: %s is not a regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	return Parse(path, data)
}

// Parse reads a script from YAML. Name is the file to use in errors.
func Parse(name string, data []byte) (*Script, error) {
	p := &parser{name: name}
	if len(data) > maxFile {
		p.errs = append(p.errs, &Error{At: source.Origin{File: name}, Message: fmt.Sprintf("the script is larger than %d MiB", maxFile>>20)})
		return nil, p.err()
	}
	var doc yaml.Node
	if err := yaml.Load(data, &doc); err != nil {
		return nil, p.syntax(err)
	}
	s := &Script{Name: name}
	if doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 {
		p.script(s, doc.Content[0])
	} else {
		p.fail(&doc, "the script is empty", "write replies:")
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return s, nil
}

type parser struct {
	name string
	errs []error
}

func (p *parser) at(n *yaml.Node) source.Origin {
	return source.Origin{File: p.name, Line: n.Line, Column: n.Column}
}

func (p *parser) fail(n *yaml.Node, msg, hint string) {
	p.errs = append(p.errs, &Error{p.at(n), msg, hint})
}

func (p *parser) err() error {
	if len(p.errs) > maxErrors {
		more := fmt.Errorf("%s: %d more errors", p.name, len(p.errs)-maxErrors)
		p.errs = append(p.errs[:maxErrors], more)
	}
	return errors.Join(p.errs...)
}

func (p *parser) syntax(err error) error {
	at := source.Origin{File: p.name}
	if e, ok := errors.AsType[*yaml.LoadError](err); ok {
		at.Line, at.Column = e.Mark.Line, e.Mark.Column
		err = errors.New(e.Message)
	}
	return &Error{At: at, Message: err.Error(), Hint: "a script is a mapping with replies:"}
}

func (p *parser) script(s *Script, n *yaml.Node) {
	seen := p.fields(n, "the script", fields{
		"replies": func(v *yaml.Node) { s.Replies = p.replies(v) },
		"loop":    func(v *yaml.Node) { p.decode(v, "loop", "true or false", &s.Loop) },
	})
	if n.Kind == yaml.MappingNode && !seen["replies"] {
		p.fail(n, "the script has no replies", "write replies:")
	}
}

func (p *parser) replies(n *yaml.Node) []Reply {
	if !p.is(n, yaml.SequenceNode, "replies", "a list") {
		return nil
	}
	if len(n.Content) == 0 {
		p.fail(n, "replies is empty", "write at least one reply")
	}
	out := make([]Reply, len(n.Content))
	for i, v := range n.Content {
		p.reply(&out[i], v)
	}
	return out
}

func (p *parser) reply(r *Reply, n *yaml.Node) {
	r.At = p.at(n)
	seen := p.fields(n, "a reply", fields{
		"when": func(v *yaml.Node) {
			p.fields(v, "when", fields{
				"contains": func(v *yaml.Node) { r.When.Contains = p.needle(v) },
				"for":      func(v *yaml.Node) { r.When.For = p.text(v, "for") },
			})
		},
		"text":  func(v *yaml.Node) { r.Text = p.text(v, "text") },
		"tools": func(v *yaml.Node) { r.Tools = p.calls(v) },
		"error": func(v *yaml.Node) { r.Error = p.failure(v) },
		"delay": func(v *yaml.Node) { r.Delay = p.duration(v, "delay") },
		"gap":   func(v *yaml.Node) { r.Gap = p.duration(v, "gap") },
		"usage": func(v *yaml.Node) {
			r.Usage = &Usage{}
			p.fields(v, "usage", fields{
				"input":      func(v *yaml.Node) { r.Usage.Input = p.count(v, "input") },
				"cache-read": func(v *yaml.Node) { r.Usage.CacheRead = p.count(v, "cache-read") },
				"output":     func(v *yaml.Node) { r.Usage.Output = p.count(v, "output") },
			})
		},
	})
	if n.Kind != yaml.MappingNode {
		return
	}
	if !seen["text"] && !seen["tools"] && !seen["error"] {
		p.fail(n, "the reply says nothing", "write text, tools or error")
	}
	if seen["tools"] && seen["error"] {
		p.fail(n, "a reply has either tools or error", "")
	}
}

func (p *parser) calls(n *yaml.Node) []Call {
	if !p.is(n, yaml.SequenceNode, "tools", "a list of {name, input}") {
		return nil
	}
	out := make([]Call, len(n.Content))
	for i, v := range n.Content {
		p.fields(v, "a tool call", fields{
			"name":  func(v *yaml.Node) { out[i].Name = p.text(v, "name") },
			"input": func(v *yaml.Node) { out[i].Input = p.input(v) },
		})
		if v.Kind == yaml.MappingNode && out[i].Name == "" {
			p.fail(v, "the tool call has no name", "write name: read")
		}
	}
	return out
}

func (p *parser) failure(n *yaml.Node) *Failure {
	f := &Failure{}
	seen := p.fields(n, "error", fields{
		"status":      func(v *yaml.Node) { f.Status = p.status(v) },
		"retry-after": func(v *yaml.Node) { f.RetryAfter = p.duration(v, "retry-after") },
		"kind":        func(v *yaml.Node) { f.Kind = p.kind(v) },
	})
	if n.Kind == yaml.MappingNode && !seen["status"] && !seen["kind"] {
		p.fail(n, "the error has neither status nor kind", "write status: 529")
	}
	return f
}

// kinds are the failures that a script can name without a status.
var kinds = [...]model.Kind{
	model.BadRequest, model.Auth, model.NotFound, model.RateLimit, model.Overloaded, model.Server,
	model.Network, model.Cut, model.Timeout, model.Protocol, model.Overflow,
}

func (p *parser) kind(n *yaml.Node) model.Kind {
	text := p.text(n, "kind")
	names := make([]string, len(kinds))
	for i, k := range kinds {
		if names[i] = string(k); names[i] == text {
			return k
		}
	}
	p.fail(n, fmt.Sprintf("unknown kind of error %q", text), didYouMean(text, names))
	return ""
}

func (p *parser) needle(n *yaml.Node) string {
	s := p.text(n, "contains")
	if n.Kind == yaml.ScalarNode && s == "" {
		p.fail(n, "contains is empty", "leave when out to match always")
	}
	return s
}

func (p *parser) status(n *yaml.Node) int {
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || v < 400 || v > 599 {
		p.fail(n, fmt.Sprintf("status must be an HTTP status from 400 to 599, not %q", n.Value), "")
	}
	return v
}

func (p *parser) count(n *yaml.Node, key string) int64 {
	v, err := strconv.ParseInt(n.Value, 10, 64)
	if n.Kind != yaml.ScalarNode || err != nil || v < 0 {
		p.fail(n, fmt.Sprintf("%s must be a number of tokens, not %q", key, n.Value), "")
		return 0
	}
	return v
}

func (p *parser) duration(n *yaml.Node, key string) time.Duration {
	d, err := time.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || d < 0 || d > maxWait {
		p.fail(n, fmt.Sprintf("%s must be a duration from 0s to %v, not %q", key, maxWait, n.Value), "write "+key+": 100ms")
		return 0
	}
	return d
}

// input turns any YAML value into JSON.
func (p *parser) input(n *yaml.Node) string {
	if bad := alias(n); bad != nil {
		p.fail(bad, "a script has no aliases", "write the value again")
		return ""
	}
	var v any
	if err := n.Decode(&v); err != nil {
		p.fail(n, "input cannot be read: "+err.Error(), "")
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil {
		p.fail(n, "input is not expressible as JSON: "+err.Error(), "")
		return ""
	}
	return string(b)
}

// alias finds an alias in a value. Aliases are refused: expanding them may
// make a small file very large.
func alias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n
	}
	for _, c := range n.Content {
		if a := alias(c); a != nil {
			return a
		}
	}
	return nil
}
