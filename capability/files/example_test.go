package files_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/capability/files"
)

// sandbox is a folder of the workspace that the agent only reads.
var sandbox = files.Sandbox{Dir: "figures", ReadOnly: true}

func loadPrompt(_ context.Context, c roster.ProfileContext) (string, error) {
	return "You answer the questions of " + c.Tenant + " about the figures.", nil
}

var Analytics = roster.DefineProfile(roster.Definition{
	ID: "analytics", Name: "Analytics Agent",
	Agent:         roster.Static{Model: "openai:gpt-4o", Prompt: loadPrompt, MaxTurns: 20}, // or Create: func(ctx, roster.ProfileContext) (*roster.Agent, error)
	Capabilities:  []roster.Capability{files.New(sandbox)},
	ContextWindow: 200_000,
})

var Support = roster.DefineProfile(roster.Definition{
	ID: "support", Name: "Support Agent",
	Agent: roster.Static{Model: "openai:gpt-4o", System: "You explain the product."},
})

// Serves an agent that reads one folder.
func ExampleNew() {
	dir, err := os.MkdirTemp("", "workspace")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	defer os.Unsetenv("XDG_STATE_HOME")
	before, err := os.Getwd()
	if err != nil {
		log.Fatal(err)
	}
	if err := os.Chdir(dir); err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.Chdir(before) }()

	app, err := roster.NewApp(roster.Options{ResolveProfile: roster.StaticResolver(Analytics, Support)})
	if err != nil {
		log.Fatal(err)
	}
	defer app.Close(context.Background())
	http.Handle("/", app)

	for p := range app.Catalog().List() {
		fmt.Println(p.Name, p.Model.V, p.Tools.V.Names)
	}
	// Output:
	// analytics openai:gpt-4o [read glob grep]
	// support openai:gpt-4o []
}
