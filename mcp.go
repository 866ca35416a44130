package roster

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/rosterrun/roster/command"
	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/host/mcp"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/profile"
)

// MCP serves the workspace to clients of the Model Context Protocol: each profile
// that offer takes is a tool, each session a resource, each command a prompt; nil
// takes all profiles that are not hidden. It starts nothing before a client comes.
// The caller closes it, before the App.
func (a *App) MCP(offer func(*profile.Profile) bool) *mcp.Server {
	return a.mcpFor(identity.Local(), a.ownDeps(), offer)
}

// mcpFront serves each caller from the workspace of his tenant.
func (a *App) mcpFront() *mcp.Front {
	return mcp.NewFront(func(c identity.Caller) (*mcp.Server, error) {
		b, err := a.tenantOf(c)
		if err != nil {
			return nil, err
		}
		return b.mcpFor(c, b.hostDeps(), nil), nil
	})
}

func (a *App) mcpFor(c identity.Caller, d host.Deps, offer func(*profile.Profile) bool) *mcp.Server {
	return mcp.New(mcp.Options{
		Caller: c, Host: d, Profiles: a.watchProfiles, Resume: a.Resume, Offer: offer,
		Prompts: a.mcpPrompts, Prompt: a.mcpPrompt, Version: version(), Log: a.opts.Log,
	})
}

func (a *App) watchProfiles(ctx context.Context) iter.Seq[[]*profile.Profile] {
	return func(yield func([]*profile.Profile) bool) {
		for s := range a.Catalog().Watch(ctx) {
			all := make([]*profile.Profile, 0, s.Len())
			for p := range s.List() {
				all = append(all, p)
			}
			if !yield(all) {
				return
			}
		}
	}
}

// argumentsOf are the names of what a command takes. One whose arguments have no
// names takes them as one text, as they would be typed.
func argumentsOf(c *command.Command) []string {
	if len(c.Arguments) > 0 {
		return c.Arguments
	}
	if c.TakesArguments() {
		return []string{"arguments"}
	}
	return nil
}

// mcpPrompts lists the commands. Those that come from a server of the protocol are
// that server's to offer.
func (a *App) mcpPrompts(context.Context) []mcp.Prompt {
	var list []mcp.Prompt
	for _, c := range a.Commands().List() {
		if c.Fetch == nil {
			list = append(list, mcp.Prompt{Name: c.Name, Description: c.Description, Arguments: argumentsOf(c)})
		}
	}
	slices.SortFunc(list, func(a, b mcp.Prompt) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// mcpPrompt expands a command. What it reads and runs, it does as the agent that it
// names, by that one's rules; one that names none can do neither here.
func (a *App) mcpPrompt(ctx context.Context, name string, values map[string]string) ([]message.Part, error) {
	c, err := a.command(name)
	if errors.Is(err, command.ErrUnknown) || err == nil && c.Fetch != nil {
		return nil, fmt.Errorf("%w: %s", mcp.ErrNoPrompt, name)
	}
	if err != nil {
		return nil, err
	}
	typed := values["arguments"]
	if len(c.Arguments) > 0 {
		words := make([]string, len(c.Arguments))
		for i, name := range c.Arguments {
			words[i] = values[name]
		}
		for len(words) > 0 && words[len(words)-1] == "" {
			words = words[:len(words)-1]
		}
		typed = command.Join(words)
	}
	if c.Profile != "" {
		out, err := a.Expand(ctx, CommandCall{Name: name, Arguments: typed})
		if err != nil {
			return nil, err
		}
		return out.Parts, nil
	}
	out, err := c.Expand(ctx, typed, command.Hands{Workspace: a.dir})
	if err != nil {
		return nil, err
	}
	return out.Parts, nil
}

// version is that of the program as it was built.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
