package roster

import (
	"context"
	"fmt"
	"slices"

	"github.com/rosterrun/roster/command"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/trust"
)

// Commands reads the prompts that are called by a name: those of the workspace and
// of its user. It starts nothing.
func (a *App) Commands() *command.Registry {
	return command.Find(command.Options{Dir: a.dir, Home: a.now().config.Home, UserHome: a.opts.Getenv("HOME")})
}

// command finds a command by its name, or else the skill or the
// prompt of an MCP server of that name. An error that
// is a *command.NotFoundError names those that are nearest.
func (a *App) command(name string) (*command.Command, error) {
	c, err := a.Commands().Get(name)
	if err != nil {
		if own := a.skillCommand(name); own != nil {
			return own, nil
		}
		if own := a.serverCommand(name); own != nil {
			return own, nil
		}
	}
	return c, err
}

// CommandCall calls a command.
type CommandCall struct {
	Name      string // without the slash
	Arguments string // as they were typed
	// Profile is whose rules hold for what the command does; empty: the one that the
	// command names.
	Profile string
	// Set, Flags and AllowAll are as in Ask. What Set or Flags say of the model goes
	// before what the command says.
	Set, Flags map[string]string
	AllowAll   bool
	// Tenant and User are whose grants hold.
	Tenant, User string
	// Typed says that a person has typed the arguments, here and now: the files that
	// they name are read where the rules say to ask.
	Typed bool
	// Approve asks a person whether something may be done, with AnswerOnce or AnswerNo;
	// nil: nobody is there, and what would have to be asked for is denied.
	Approve func(context.Context, Approval) (bool, error)
}

// CommandPrompt is what a command comes to: the prompt, and what goes with it.
type CommandPrompt struct {
	Command *command.Command
	Profile string
	Parts   []message.Part
	// Set are the overrides of the call, with those of the command.
	Set map[string]string
	// Lent are the rules that the command brings along, for the loop that it begins.
	Lent []session.Lent
	// Called is what stands in the log beside the prompt.
	Called *session.Command
	// Notes say, in sentences, what of the command has no effect or is not as its
	// writer may expect.
	Notes []string
}

// Into puts a command into the prompt that it is asked with.
func (p *CommandPrompt) Into(ask *Ask) {
	ask.Profile, ask.Parts, ask.Set, ask.Lent, ask.Command = p.Profile, p.Parts, p.Set, p.Lent, p.Called
}

// Call fills in the prompt of a command, for a caller who cannot be asked anything. The
// parts of ask, such as images, are put behind it. Without a profile it is that of the
// session, or else the one that the command names.
func (a *App) Call(ctx context.Context, ask Ask, name, arguments string) (Ask, error) {
	call := CommandCall{
		Name: name, Arguments: arguments, Profile: ask.Profile, Set: ask.Set, Flags: ask.Flags, AllowAll: ask.AllowAll,
		Tenant: ask.Key.Tenant, User: ask.User,
	}
	if call.Profile == "" && ask.Key.Stream != "" {
		b, err := a.Backend(ctx)
		if err != nil {
			return ask, err
		}
		sum, err := b.Summary(ctx, a.withTenant(ask.Key))
		if err != nil {
			return ask, err
		}
		call.Profile = sum.Profile
	}
	p, err := a.Expand(ctx, call)
	if err != nil {
		return ask, err
	}
	own := ask.Parts
	p.Into(&ask)
	ask.Parts = append(ask.Parts[:len(ask.Parts):len(ask.Parts)], own...)
	return ask, nil
}

// Expand gives the prompt that a command comes to. The files that it names are read,
// and its command lines are run, as the profile's tools read and bash would do it:
// under its rules, with its hooks, and in its sandbox; those of a workspace's file only
// where that is trusted. What may not be done is an error, and then nothing is to be
// sent.
func (a *App) Expand(ctx context.Context, call CommandCall) (*CommandPrompt, error) {
	c, err := a.command(call.Name)
	if err != nil {
		return nil, err
	}
	out := &CommandPrompt{Command: c, Profile: call.Profile, Set: call.Set}
	if out.Profile == "" {
		out.Profile = c.Profile
	}
	if out.Profile == "" {
		return nil, &command.Error{Command: c.Name, At: c.At, Message: "it names no agent, so it is not known who is to do it", Hint: "name the profile: roster run PROFILE /" + c.Name + ", or --profile PROFILE where there is that flag"}
	}
	if c.Model != "" && call.Set["model"] == "" && call.Flags["model"] == "" {
		out.Set = with(call.Set, "model", c.Model)
	}
	e, err := a.expander(ctx, c, out, call)
	if err != nil {
		return nil, err
	}
	done, err := c.Expand(ctx, call.Arguments, command.Hands{Workspace: e.workspace, Run: e.run, File: e.file})
	if err != nil {
		return nil, err
	}
	out.Parts, out.Lent, out.Notes = done.Parts, e.lent, append(e.notes, done.Notes...)
	out.Called = &session.Command{Name: c.Name, Arguments: call.Arguments, File: c.File}
	if call.Profile != "" && c.Profile != "" && call.Profile != c.Profile {
		out.Notes = append(out.Notes, fmt.Sprintf("it is written for %s, and %s runs it, as you say", c.Profile, call.Profile))
	}
	return out, nil
}

func with(set map[string]string, key, value string) map[string]string {
	out := map[string]string{key: value}
	for k, v := range set {
		out[k] = v
	}
	return out
}

// items are the command lines of a workspace's command, as trust sees them.
func commandItems(c *command.Command) (items []trust.Item) {
	for i, l := range c.Lines() {
		items = append(items, trust.CommandItem(c.Name, i+1, l.Text, l.At))
	}
	return items
}

// commandSurvey adds what the commands of the workspace would run and allow.
func (a *App) commandSurvey(out *trust.Survey) {
	for _, c := range a.Commands().List() {
		if !c.User {
			out.Items = append(out.Items, commandItems(c)...)
			out.Allows = append(out.Allows, c.Allows...)
		}
	}
}

// CommandWants says whether a command would use something that has no effect while
// the workspace is not trusted: Expand refuses it then, or says so.
func (a *App) CommandWants(name string) bool {
	c, err := a.command(name)
	if err != nil || c.User {
		return false
	}
	view := a.Trust()
	return len(c.Allows) > 0 && !view.Rules(c.File) || slices.ContainsFunc(commandItems(c), func(i trust.Item) bool { return view.Gate(i) != nil })
}

// errorAt is an error of a command at a place in it.
func errorAt(c *command.Command, at source.Origin, err error, format string, args ...any) error {
	return &command.Error{Command: c.Name, At: at, Message: fmt.Sprintf(format, args...), Err: err}
}

// CommandList says what commands there are.
func (a *App) CommandList() view.Commands {
	r := a.Commands()
	out := view.Commands{Commands: []view.Command{}, Diagnostics: r.Diagnostics()}
	for _, c := range r.List() {
		v := a.commandView(c)
		v.Text = ""
		out.Commands = append(out.Commands, v)
	}
	if out.Diagnostics == nil {
		out.Diagnostics = []profile.Diagnostic{}
	}
	return out
}

// ShowCommand says what one command is. Nothing of it is run.
func (a *App) ShowCommand(name string) (view.Command, error) {
	c, err := a.command(name)
	if err != nil {
		return view.Command{}, err
	}
	return a.commandView(c), nil
}

func (a *App) commandView(c *command.Command) view.Command {
	v := view.Command{
		Name: c.Name, Kind: string(c.Kind), File: c.File, Line: c.At.Line, User: c.User, Description: c.Description, Hint: c.Hint,
		Agent: c.Profile, Model: c.Model, Arguments: c.TakesArguments(), Text: c.Text,
		Allows: append([]permission.Rule{}, c.Allows...), Lines: []view.CommandLine{}, Files: append([]string{}, c.Files()...), Lacks: append([]string{}, c.Lacks...),
	}
	for _, i := range commandItems(c) {
		v.Lines = append(v.Lines, view.CommandLine{Line: i.At.Line, Inert: !c.User && !a.Trust().State(i).Acts()})
	}
	for i, l := range c.Lines() {
		v.Lines[i].Text = l.Text
	}
	return v
}

// View is what the command came to, for people and programs.
func (p *CommandPrompt) View() view.Expanded {
	return view.Expanded{
		Name: p.Command.Name, Arguments: p.Called.Arguments, Profile: p.Profile, Set: p.Set, Lent: p.Lent,
		Notes: append([]string{}, p.Notes...), Parts: p.Parts,
	}
}
