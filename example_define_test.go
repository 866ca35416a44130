package roster_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/capability/files"
	"github.com/rosterrun/roster/session"
)

var reports = files.Sandbox{ReadOnly: true}

func loadPrompt(_ context.Context, c roster.ProfileContext) (string, error) {
	return "You answer the questions of " + c.Tenant + ".", nil
}

var Analytics = roster.DefineProfile(roster.Definition{
	ID: "analytics", Name: "Analytics Agent",
	Agent:         roster.Static{Model: "openai:gpt-4o", Prompt: loadPrompt, MaxTurns: 20}, // or Create: func(ctx, roster.ProfileContext) (*roster.Agent, error)
	Capabilities:  []roster.Capability{files.New(reports)},
	ContextWindow: 200_000,
})

var Support = roster.DefineProfile(roster.Definition{
	ID: "support", Name: "Support Agent",
	Agent: roster.Static{Model: "script:replies.yaml", System: "You explain the product, briefly."},
})

// example makes an empty workspace, whose scripted model says one thing, the current
// directory. Agents with a real model need nothing of it.
func example(says string) (end func()) {
	dir, err := os.MkdirTemp("", "workspace")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "replies.yaml"), []byte("loop: true\nreplies: [{text: "+says+"}]\n"), 0o600)
	}
	before, _ := os.Getwd()
	if err == nil {
		err = os.Chdir(dir)
	}
	if err != nil {
		log.Fatal(err)
	}
	os.Setenv("ROSTER_HOME", filepath.Join(dir, "home"))
	os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	return func() {
		os.Unsetenv("ROSTER_HOME")
		os.Unsetenv("XDG_STATE_HOME")
		_ = os.Chdir(before)
		os.RemoveAll(dir)
	}
}

// reply prompts a profile, as a tenant, and waits for what it says.
func reply(ctx context.Context, app *roster.App, profile, tenant string) string {
	agent, err := app.NewAgent(profile, roster.AgentOptions{Session: session.Key{Tenant: tenant}, Headless: true})
	if err != nil {
		return err.Error()
	}
	run, err := agent.Prompt(ctx, "Hello")
	if err != nil {
		return err.Error()
	}
	end, err := run.Wait(ctx)
	if err != nil {
		return err.Error()
	}
	return end.Text
}

// Serves profiles that are defined in code.
func ExampleNewApp() {
	defer example("Good morning!")()

	app, err := roster.NewApp(roster.Options{ResolveProfile: roster.StaticResolver(Analytics, Support)})
	if err != nil {
		log.Fatal(err)
	}
	defer app.Close(context.Background())
	mux := http.NewServeMux()
	mux.Handle("/", app)

	server := httptest.NewServer(mux)
	defer server.Close()
	resp, err := server.Client().Post(server.URL+"/chat", "application/json", strings.NewReader(`{"agentId": "support", "message": "Hello"}`))
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(resp.Status, strings.Contains(string(body), `"text":"Good morning!"`))
	for p := range app.Catalog().List() {
		fmt.Println(p.Name+":", p.Title.V)
	}
	// Output:
	// 200 OK true
	// analytics: Analytics Agent
	// support: Support Agent
}

// Defines a profile whose prompt is made for each request.
func ExampleDefineProfile() {
	defer example("Good morning!")()

	greeter := roster.DefineProfile(roster.Definition{
		ID: "greeter", Name: "Greeter",
		Description: "Greets people.",
		Agent: roster.Static{
			Model: "script:replies.yaml",
			Prompt: func(ctx context.Context, c roster.ProfileContext) (string, error) {
				return "You greet " + c.User + " of " + c.Tenant + ".", nil
			},
			MaxTurns: 5,
		},
		ModelConfig: roster.ModelConfig{MaxTokens: 1000},
		Keys:        map[string]string{"limits.cost": "0.10"},
	})

	app, err := roster.NewApp(roster.Options{ResolveProfile: roster.StaticResolver(greeter)})
	if err != nil {
		log.Fatal(err)
	}
	defer app.Close(context.Background())
	fmt.Println(reply(context.Background(), app, "greeter", "acme"))
	// Output: Good morning!
}

// Builds the agent for each request.
func ExampleDefineAgent() {
	defer example("Good morning!")()

	greeter := roster.DefineProfile(roster.Definition{
		ID: "greeter", Name: "Greeter",
		Create: func(ctx context.Context, c roster.ProfileContext) (*roster.Agent, error) {
			turns := 5
			if c.Tenant == "acme" {
				turns = 20
			}
			return roster.DefineAgent(roster.AgentDef{
				ID:       "greeter",
				Model:    roster.ModelRef{Provider: "script", ModelID: "replies.yaml"},
				System:   "You greet the people of " + c.Tenant + ".",
				MaxTurns: turns,
			}), nil
		},
	})

	app, err := roster.NewApp(roster.Options{ResolveProfile: roster.StaticResolver(greeter)})
	if err != nil {
		log.Fatal(err)
	}
	defer app.Close(context.Background())
	fmt.Println(reply(context.Background(), app, "greeter", "acme"))
	// Output: Good morning!
}

// Gives each tenant the profile that is his.
func ExampleResolverFunc() {
	defer example("Good morning!")()

	support := roster.DefineProfile(roster.Definition{
		ID: "support", Name: "Support",
		Agent: roster.Static{Model: "script:replies.yaml", System: "You explain the product."},
	})
	acme := roster.DefineProfile(roster.Definition{
		ID: "support", Name: "Support of Acme",
		Agent: roster.Static{Model: "script:replies.yaml", System: "You explain the product as Acme sells it."},
	})
	resolve := roster.ResolverFunc(func(ctx context.Context, r roster.ProfileRequest) (*roster.Profile, error) {
		switch {
		case r.AgentID != "support":
			return nil, nil // what the files of the workspace say
		case r.Tenant == "acme":
			return acme, nil
		}
		return support, nil
	})

	app, err := roster.NewApp(roster.Options{ResolveProfile: resolve})
	if err != nil {
		log.Fatal(err)
	}
	defer app.Close(context.Background())
	fmt.Println(reply(context.Background(), app, "support", "acme"))
	fmt.Println(reply(context.Background(), app, "nobody", "acme"))
	// Output:
	// Good morning!
	// profile not found: nobody
}

// Serves one route in a mux of one's own.
func ExampleChatHandler() {
	defer example("Good morning!")()

	app, err := roster.NewApp(roster.Options{ResolveProfile: roster.StaticResolver(Support)})
	if err != nil {
		log.Fatal(err)
	}
	defer app.Close(context.Background())
	mux := http.NewServeMux()
	mux.Handle("POST /api/ask", roster.ChatHandler(app))
	mux.Handle("POST /api/watch", roster.StreamHandler(app))

	server := httptest.NewServer(mux)
	defer server.Close()
	resp, err := server.Client().Post(server.URL+"/api/ask", "application/json", strings.NewReader(`{"agentId": "support", "message": "Hello"}`))
	if err != nil {
		log.Fatal(err)
	}
	resp.Body.Close()
	fmt.Println(resp.Status)
	// Output: 200 OK
}
