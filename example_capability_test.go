package roster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// stock is a connection to a store of things, which the calls of a run share.
type stock struct{ left map[string]int }

func (s *stock) Close() error { return nil }

// openStock is the Open of the capability: scope says for whom it is.
func openStock(_ context.Context, scope roster.Scope) (io.Closer, error) {
	if scope.Box.Kind == "" {
		return nil, errors.New("nobody says where commands run")
	}
	return &stock{map[string]int{"bolts": 7}}, nil
}

// count is a tool that says how many there are of a thing.
type count struct{ def *model.ToolDef }

func (t *count) Def() *model.ToolDef { return t.def }

// Recovery says that a call which a crash broke off can be made again.
func (t *count) Recovery(tool.Call) tool.Recovery { return tool.Repeat }

func (t *count) Prepare(_ context.Context, c tool.Call) (tool.Plan, error) {
	p := &counting{opened: c.Opened}
	return p, json.Unmarshal(c.Input, p) // the input fits the schema
}

// counting is one call of it: what it needs is judged before it runs.
type counting struct {
	Thing  string
	opened func(context.Context) (io.Closer, error)
}

func (p *counting) Needs() []permission.Query {
	return []permission.Query{{Tool: "stock_count", Subject: p.Thing}}
}

func (p *counting) Run(ctx context.Context, _ func(string)) (tool.Result, error) {
	c, err := p.opened(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	return tool.Text(fmt.Sprintf("%d %s", c.(*stock).left[p.Thing], p.Thing)), nil
}

func (p *counting) Close() error { return nil }

// Adds a tool, with what it starts and what the model is told of it, to what agents
// can do.
func ExampleCapability() {
	dir, err := os.MkdirTemp("", "workspace")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, content := range map[string]string{
		"profiles/clerk.md": "---\nname: clerk\nmodel: script:replies.yaml\ntools: [stock]\npermission: {stock_count: allow}\n---\nYou answer questions about the stock.\n",
		"replies.yaml":      "replies: [{tools: [{name: stock_count, input: {thing: bolts}}]}, {text: There are 7.}]\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			log.Fatal(err)
		}
	}

	ctx := context.Background()
	app, _, err := roster.Open(dir, roster.Options{State: filepath.Join(dir, "state"), Trust: true, Capabilities: []roster.Capability{{
		Name: "stock", Summary: "look into the stock", Open: openStock,
		Fragment: "The stock is counted every morning.",
		Tools: []tool.Tool{&count{&model.ToolDef{
			Name: "stock_count", Description: "Say how many there are of a thing.",
			Schema: []byte(`{"type": "object", "properties": {"thing": {"type": "string"}}, "required": ["thing"]}`),
		}}},
	}}})
	if err != nil {
		log.Fatal(err)
	}
	defer app.Close(ctx)
	agent, err := app.NewAgent("clerk", roster.AgentOptions{Headless: true})
	if err != nil {
		log.Fatal(err)
	}
	run, err := agent.Prompt(ctx, "How many bolts are left?")
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range run.Events(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		switch b := e.Body.(type) {
		case *session.ToolAfter:
			fmt.Println(b.Tool, b.Outcome, message.PartsText(b.Parts))
		case *session.LoopEnd:
			fmt.Println(b.Reason, b.Text)
		}
	}
	// Output:
	// stock_count ok 7 bolts
	// done There are 7.
}
