package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/tool"
)

// Bounds of what a server says of its tools.
const (
	maxTools       = 1000
	maxPages       = 100
	maxTitle       = 200      // bytes of a name or a title
	maxDescription = 8 << 10  // bytes
	maxSchema      = 64 << 10 // bytes
	maxDepth       = 40       // of a schema
	maxProblems    = 50
)

// Definition is what is known of a tool of a server. It can be kept and used as long
// as the server is not there.
type Definition struct {
	Name        string          `json:"name"` // by which it is offered
	Tool        string          `json:"tool"` // as the server calls it
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"`
	ReadOnly    bool            `json:"read_only,omitempty"`  // what the server says of it
	Idempotent  bool            `json:"idempotent,omitempty"` // this too
}

func (d Definition) same(o Definition) bool {
	return d.Name == o.Name && d.Tool == o.Tool && d.Title == o.Title && d.Description == o.Description &&
		d.ReadOnly == o.ReadOnly && d.Idempotent == o.Idempotent && bytes.Equal(d.Schema, o.Schema)
}

// catalog is a list of tools with what is wrong with it.
type catalog struct {
	tools    []*Tool // not nil once the server has been asked
	problems []Problem
}

func (l *catalog) problem(server, tool, text string) {
	if len(l.problems) < maxProblems {
		l.problems = append(l.problems, Problem{server, line(tool, maxTitle), text})
	}
}

// list asks the server for its tools.
func (s *session) list(ctx context.Context) (catalog, error) {
	l := catalog{tools: []*Tool{}}
	if caps := s.sdk.InitializeResult().Capabilities; caps == nil || caps.Tools == nil {
		return l, nil
	}
	var params sdk.ListToolsParams
	seen := map[string]bool{}
	for range maxPages {
		page, err := s.sdk.ListTools(ctx, &params)
		if err != nil {
			return l, err
		}
		for _, t := range page.Tools {
			if len(seen) >= maxTools {
				l.problem(s.server.Name, "", fmt.Sprintf("it has more than %d tools: the others are left out", maxTools))
				return l, nil
			}
			if seen[t.Name] {
				l.problem(s.server.Name, t.Name, "it is listed more than once: the first counts")
				continue
			}
			seen[t.Name] = true
			s.client.add(&l, t)
		}
		if params.Cursor = page.NextCursor; params.Cursor == "" {
			return l, nil
		}
	}
	l.problem(s.server.Name, "", fmt.Sprintf("its list of tools goes on and on: %d pages of it were read", maxPages))
	return l, nil
}

// add takes a tool into the list, if it is one that can be offered.
func (c *Client) add(l *catalog, t *sdk.Tool) {
	name := c.server.Name
	switch {
	case t.Name == "" || len(t.Name) > maxTitle:
		l.problem(name, "", fmt.Sprintf("a tool is left out: its name has %d bytes, and 1 to %d are taken", len(t.Name), maxTitle))
		return
	case len(t.Description) > maxDescription:
		l.problem(name, t.Name, fmt.Sprintf("its description has %d bytes: the first %d are used", len(t.Description), maxDescription))
	}
	schema, err := schemaOf(t.InputSchema)
	if err == nil {
		_, err = tool.NewValidator(&model.ToolDef{Name: Name(name, t.Name), Schema: schema})
	}
	if err != nil {
		l.problem(name, t.Name, "it is left out: "+line(err.Error(), maxLine))
		return
	}
	d := Definition{Name: Name(name, t.Name), Tool: t.Name, Title: line(t.Title, maxTitle), Description: clean(t.Description, maxDescription), Schema: schema}
	if a := t.Annotations; a != nil {
		d.ReadOnly, d.Idempotent = a.ReadOnlyHint, a.IdempotentHint
		if d.Title == "" {
			d.Title = line(a.Title, maxTitle)
		}
	}
	l.tools = append(l.tools, c.tool(d))
}

// schemaOf is a server's schema of an input as models get it.
func schemaOf(schema any) (json.RawMessage, error) {
	root, ok := schema.(map[string]any)
	if schema == nil {
		root, ok = map[string]any{}, true
	}
	if !ok {
		return nil, errors.New("its schema is no JSON object")
	}
	switch root["type"] {
	case "object":
	case nil:
		root["type"] = "object"
	default:
		return nil, fmt.Errorf("its schema is for type %.40q, and a tool's input is an object", fmt.Sprint(root["type"]))
	}
	if _, ok := root["properties"]; !ok {
		root["properties"] = map[string]any{}
	}
	if !shallow(root, maxDepth) {
		return nil, fmt.Errorf("its schema is nested more than %d deep", maxDepth)
	}
	text, err := json.Marshal(root)
	if err == nil && len(text) > maxSchema {
		err = fmt.Errorf("its schema has %d bytes, and at most %d are taken", len(text), maxSchema)
	}
	return text, err
}

// shallow says whether a value is nested at most so deep. On the way it cleans what
// is told to models.
func shallow(v any, depth int) bool {
	if depth == 0 {
		return false
	}
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if !shallow(x, depth-1) {
				return false
			}
		}
	case map[string]any:
		for k, x := range v {
			if text, ok := x.(string); ok && (k == "description" || k == "title") {
				v[k] = clean(text, maxDescription)
			}
			if !shallow(x, depth-1) {
				return false
			}
		}
	}
	return true
}

// recall gives the tools that are remembered of a server that was never reached. As
// long as they are the same they stay the same.
func (c *Client) recall(all []Definition) []*Tool {
	c.mu.Lock()
	defer c.mu.Unlock()
	same := len(c.recalled) == len(all)
	for i := 0; same && i < len(all); i++ {
		same = c.recalled[i].Definition.same(all[i])
	}
	if same {
		return c.recalled
	}
	c.recalled = nil
	for _, d := range all {
		if _, err := tool.NewValidator(&model.ToolDef{Name: d.Name, Schema: d.Schema}); err == nil && d.Name == Name(c.server.Name, d.Tool) {
			c.recalled = append(c.recalled, c.tool(d))
		}
	}
	return c.recalled
}
