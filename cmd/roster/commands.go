package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/command"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

func (c *cli) commandsCommand() *cobra.Command {
	places, own := command.Places()
	cmd := &cobra.Command{
		Use:   "commands",
		Short: "List, show and expand the prompts that are called as /NAME",
		Long: `Commands are prompts in files that roster run calls by a name, as in
roster run reviewer /review src. They lie in ` + strings.Join(places, ", ") + `
of the workspace, and in ` + strings.Join(own, ", ") + `.`,
		Args: subcommand,
		RunE: needSubcommand,
	}
	cmd.AddCommand(c.commandsListCommand(), c.commandsShowCommand(), c.commandsExpandCommand())
	return cmd
}

func (c *cli) commandsListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the commands, and what is wrong with files of such",
		Example: "  roster commands list\n  roster commands list --json",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := c.reach()
			if err != nil {
				return err
			}
			all, err := at.AllCommands(cmd.Context())
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(all)
			}
			c.warn(all.Diagnostics)
			rows := make([][]string, len(all.Commands))
			for i, v := range all.Commands {
				rows[i] = []string{"/" + v.Name, v.Kind, v.File, v.Description}
			}
			render.Table(c.stdout, c.style(c.stdout.file), []string{"COMMAND", "KIND", "FILE", "DESCRIPTION"}, rows)
			return nil
		},
	}
}

func (c *cli) commandsShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME",
		Short: "Show a command: its text, what it runs and reads, and what of it has no effect",
		Args:  exactly("NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			app, err := c.open(roster.Options{})
			if err != nil {
				return err
			}
			v, err := app.ShowCommand(strings.TrimPrefix(args[0], "/"))
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(v)
			}
			render.Command(c.stdout, c.style(c.stdout.file), &v)
			return nil
		},
		ValidArgsFunction: c.completeCommands,
	}
}

func (c *cli) commandsExpandCommand() *cobra.Command {
	var f runFlags
	var name string
	cmd := &cobra.Command{
		Use:   "expand NAME [ARGUMENT…]",
		Short: "Write the prompt that a command comes to, without asking a model",
		Long: `Writes what roster run would send: with the arguments in their places, the files
that the command names, and what its command lines write. Those are run, under the
rules of the profile, as roster run does it.`,
		Example: "  roster commands expand review src/main.go --profile reviewer",
		Args:    atLeast("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := f.overrides()
			if err != nil {
				return err
			}
			app, err := c.open(roster.Options{})
			if err != nil {
				return err
			}
			p, err := c.expand(cmd.Context(), app, f, roster.CommandCall{
				Name: strings.TrimPrefix(args[0], "/"), Arguments: command.Join(args[1:]), Profile: name, Flags: set, AllowAll: f.allowAll,
			}, !f.nonInteractive && c.attended())
			if err == nil {
				err = c.writeExpanded(p)
			}
			return c.close(app, err)
		},
		ValidArgsFunction: c.completeCommands,
	}
	fs := cmd.Flags()
	fs.StringVar(&name, "profile", "", "the profile's `NAME`; default: the agent that the command names")
	fs.StringVar(&f.model, "model", "", "the `MODEL` that would be asked")
	fs.StringArrayVar(&f.set, "set", nil, "override a profile key: `KEY=VALUE`; may be repeated")
	fs.BoolVar(&f.nonInteractive, "non-interactive", false, "nobody answers questions: what would be asked is denied")
	if err := cmd.RegisterFlagCompletionFunc("profile", c.completeProfiles); err != nil {
		panic(err) // the flag is there
	}
	return cmd
}

// atLeast wants an argument for each name, and takes more.
func atLeast(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		return exactly(names...)(cmd, args[:min(len(args), len(names))])
	}
}

func (c *cli) writeExpanded(p *roster.CommandPrompt) error {
	if c.json {
		return c.writeJSON(p.View())
	}
	for _, part := range p.Parts {
		switch part := part.(type) {
		case message.Text:
			fmt.Fprintln(c.stdout, strings.TrimRight(part.Text, "\n"))
		case message.Image:
			fmt.Fprintf(c.stdout, "[image %s, %d bytes]\n", part.MediaType, len(part.Data))
		}
	}
	return nil
}

// expand gives the prompt that a command comes to. Where somebody is at the terminal
// he is asked whether to trust what it needs, and whether it may do what the rules say
// to ask about.
func (c *cli) expand(ctx context.Context, app *roster.App, f runFlags, call roster.CommandCall, attended bool) (*roster.CommandPrompt, error) {
	call.Typed = true
	ask := roster.Ask{Profile: call.Profile, Set: call.Set, Flags: call.Flags}
	if err := c.askTrustFor(ctx, app, ask, attended, app.CommandWants(call.Name)); err != nil {
		return nil, err
	}
	if attended && !f.headless(attended) {
		call.Approve = c.approve
	}
	p, err := app.Expand(ctx, call)
	if err != nil {
		return nil, err
	}
	for _, n := range p.Notes {
		if !c.quiet {
			fmt.Fprintf(c.stderr, "roster: /%s: %s\n", p.Command.Name, render.Safe(n))
		}
	}
	return p, nil
}

// approve asks at the terminal whether something may be done once.
func (c *cli) approve(ctx context.Context, a roster.Approval) (bool, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDONLY, 0)
	if err != nil {
		return false, err
	}
	defer tty.Close()
	render.Approval(c.stderr, c.style(c.stderr), &a)
	lines := bufio.NewReader(tty)
	for ctx.Err() == nil {
		fmt.Fprint(c.stderr, "> ")
		line, err := lines.ReadString('\n')
		if err != nil {
			return false, fmt.Errorf("the question has no answer: %w", err)
		}
		answer, ok := answerOf(line)
		if ok && (answer.Answer == session.AnswerOnce || answer.Answer == session.AnswerNo) {
			return answer.Answer == session.AnswerOnce, nil
		}
		fmt.Fprintln(c.stderr, "roster: answer y (once) or n (no)")
	}
	return false, ctx.Err()
}

// mayCall says whether the arguments of roster run may call a command: [PROFILE] /NAME
// [ARGUMENT…].
func mayCall(args []string) bool {
	return strings.HasPrefix(args[0], "/") || len(args) > 1 && strings.HasPrefix(args[1], "/")
}

func runArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && mayCall(args) {
		return nil
	}
	return arguments(1, "PROFILE", "PROMPT")(cmd, args)
}

// called gives the command that is called, in one argument or in several; whoever runs it
// says that there is none. Without one it gives the text: what is no known command's name
// and looks like a path, and what has two slashes, of which one is sent.
func called(args []string, known func(name string) bool) (call *roster.CommandCall, text string, err error) {
	profile, rest := "", args
	if !strings.HasPrefix(args[0], "/") {
		profile, rest = args[0], args[1:]
	}
	name, arguments, text, ok := command.Typed(rest[0])
	if ok && (known(name) || !(command.LikePath(name) || exists(name))) {
		arguments = strings.TrimSpace(arguments + " " + command.Join(rest[1:]))
		return &roster.CommandCall{Name: name, Arguments: arguments, Profile: profile}, "", nil
	}
	switch {
	case profile == "":
		return nil, "", usagef("PROFILE is missing before %q: name who is to answer", rest[0])
	case len(rest) > 1:
		return nil, "", usagef("unexpected argument %q: a prompt is one argument, and %q names no command", rest[1], rest[0])
	}
	return nil, text, nil
}

// exists says whether a word behind a slash is a folder or file of this machine.
func exists(name string) bool {
	_, err := os.Stat(filepath.Join("/", name))
	return !errors.Is(err, fs.ErrNotExist)
}

func (c *cli) completeCommands(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	app, err := c.open(roster.Options{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, v := range app.CommandList().Commands {
		names = append(names, nameWith(v))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func nameWith(v view.Command) string {
	if v.Description == "" {
		return v.Name
	}
	return v.Name + "\t" + v.Description
}
