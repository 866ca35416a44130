package main

import (
	"context"
	"embed"
	"strings"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/capability/browser"
	"github.com/rosterrun/roster/capability/delegation"
	"github.com/rosterrun/roster/capability/files"
	"github.com/rosterrun/roster/capability/knowledge"
	"github.com/rosterrun/roster/capability/skills"
)

// sandbox keeps the agents to the folder of the company, which they only read.
var sandbox = files.Sandbox{Dir: "company", ReadOnly: true}

// Analytics is the same for every request, but for its prompt. Its model is that of the
// app (Defaults).
var Analytics = roster.DefineProfile(roster.Definition{
	ID: "analytics", Name: "Analytics Agent",
	Description: "Answers questions about the sales figures.",
	Agent:       roster.Static{Prompt: loadPrompt, MaxTurns: 20},
	Capabilities: []roster.Capability{
		files.New(sandbox),
		browser.New(),
		knowledge.New("docs"),
		skills.New("report"),
		delegation.New("researcher", "support"),
	},
	ContextWindow: 200_000,
})

// Support answers people, and can do nothing else.
var Support = roster.DefineProfile(roster.Definition{
	ID: "support", Name: "Support Agent",
	Description:  "Explains the product to customers.",
	Agent:        roster.Static{System: "You explain the product, briefly and kindly.", MaxTurns: 5},
	Capabilities: []roster.Capability{knowledge.New("docs")},
})

//go:embed prompts
var prompts embed.FS

// loadPrompt makes the prompt of a request: what every tenant has, and the house rules of
// this one.
func loadPrompt(_ context.Context, c roster.ProfileContext) (string, error) {
	text, err := prompts.ReadFile("prompts/analytics.md")
	if err != nil {
		return "", err
	}
	house, err := prompts.ReadFile("prompts/" + house(c.Tenant))
	return strings.TrimSpace(string(text)) + "\n\n" + string(house), err
}

// house is the file with the house rules of a tenant.
func house(tenant string) string {
	if tenant == "acme" {
		return "acme.md"
	}
	return "others.md"
}
