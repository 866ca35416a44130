package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/command"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
)

// maxPrompt bounds what is read from standard input, in bytes.
const maxPrompt = 8 << 20

type runFlags struct {
	session        string
	continues      bool
	model          string
	set            []string
	maxTurns       int
	maxCost        float64
	nonInteractive bool
	mode           string
	allowAll       bool
	onDeny         string
	approvals      string
	schema         string
	worktree       bool
	record, replay string
}

func (c *cli) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run PROFILE [PROMPT | - | /COMMAND [ARGUMENT…]]",
		Short: "Ask a profile, and show its answer as it comes",
		Long: `Runs one loop: from the prompt to the answer, with the tool calls in between.
The prompt is an argument, or is read from standard input with "-". A file of the
workspace that the argument names as @path or @"path" goes with it, as the profile
may read it, images too.

A prompt that begins with a slash calls a command (see roster commands), with what
follows as its arguments; PROFILE may be left out where the command names its agent.
A name that only looks like a path is text, and two slashes stand for one.

On a terminal the text is streamed, and the tools that are used are shown. In a
pipe, standard output gets the answer and nothing else. With --json it gets all
events, one JSON object a line; the last one is loop.end.

A tool call that the rules say to ask about is asked about on the terminal. Where
nobody is there it is denied at once, the model is told, and the run goes on;
with --approvals wait the run stops there, with exit code 3, until roster
approvals answer has answered it.

With --schema the answer is a JSON value and nothing else. The provider is told
of the schema, and the answer is checked here: one that does not fit is asked for
again, twice at most, and then the run fails.

The first interrupt (Ctrl-C) cancels the run and waits for its end; the second
one ends the program at once.`,
		Example: `  roster run reviewer "What does this project do?"
  git diff | roster run reviewer -
  roster run reviewer --continue "And what about its tests?"
  roster run reviewer /review src/main.go`,
		Args: runArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.run(cmd.Context(), args, f)
		},
		ValidArgsFunction: c.completeProfiles,
	}
	fs := cmd.Flags()
	fs.StringVar(&f.session, "session", "", "go on with the session `ID`")
	fs.BoolVar(&f.continues, "continue", false, "go on with the newest session of this profile")
	loopFlags(cmd, &f)
	fs.BoolVar(&f.worktree, "worktree", false, "work in a git worktree of the session's own, until roster sessions worktree merges, keeps or drops it")
	fs.StringVar(&f.record, "record", "", "write all model calls to `FILE`")
	fs.StringVar(&f.replay, "replay", "", "answer the model calls from `FILE`")
	return cmd
}

// loopFlags are the flags of a loop, whatever it answers.
func loopFlags(cmd *cobra.Command, f *runFlags) {
	fs := cmd.Flags()
	fs.StringVar(&f.model, "model", "", "use this `MODEL`: provider/model-id, an alias, or script:FILE")
	fs.StringArrayVar(&f.set, "set", nil, "override a profile key: `KEY=VALUE`; may be repeated")
	fs.IntVar(&f.maxTurns, "max-turns", 0, "end the run after `N` model calls")
	fs.Float64Var(&f.maxCost, "max-cost", 0, "end the run when it has cost `USD`")
	fs.BoolVar(&f.nonInteractive, "non-interactive", false, "nobody answers questions: what would be asked is denied")
	modeFlag(cmd, f)
	fs.BoolVar(&f.allowAll, "dangerously-allow-all", false, "let the permission mode bypass run everything unasked that is not denied")
	fs.StringVar(&f.onDeny, "on-deny", "", "\"stop\" ends the run at the first denied tool call, with exit code 3")
	fs.StringVar(&f.approvals, "approvals", "", "what has to be allowed: `wait|deny`; wait leaves the run open, with exit code 3, until it is answered")
	fs.StringVar(&f.schema, "schema", "", "the answer has to be JSON that fits the JSON Schema in `FILE`")
}

// headless says whether nobody answers what has to be asked.
func (f *runFlags) headless(attended bool) bool {
	return f.approvals == "deny" || f.approvals != "wait" && !attended
}

func (c *cli) run(ctx context.Context, args []string, f runFlags) error {
	set, err := f.overrides()
	if err != nil {
		return err
	}
	prompt := ""
	if !mayCall(args) {
		if prompt, err = c.prompt(args[1:]); err != nil {
			return err
		}
	}
	schema, err := c.readSchema(f.schema)
	if err != nil {
		return err
	}
	attended := !f.nonInteractive && c.attended()
	ask := roster.Ask{
		Key:      session.Key{Stream: f.session},
		Profile:  args[0],
		Flags:    set,
		Headless: f.headless(attended),
		AllowAll: f.allowAll,
		OnDeny:   f.onDeny,
		Schema:   schema,
	}
	if c.server != "" {
		return c.runAtServer(ctx, args, prompt, f, ask, attended)
	}
	app, err := c.open(roster.Options{Record: f.record, Replay: f.replay})
	if err != nil {
		return err
	}
	if err = c.compose(ctx, app, args, prompt, f, &ask); err == nil {
		err = c.ask(ctx, here{app}, f, ask, attended)
	}
	return c.close(app, err)
}

// runAtServer has a server run a prompt. The server reads no files that it names, and
// knows the commands.
func (c *cli) runAtServer(ctx context.Context, args []string, prompt string, f runFlags, ask roster.Ask, attended bool) error {
	if f.worktree || f.record != "" || f.replay != "" {
		return usagef("--worktree, --record and --replay are for runs on this machine")
	}
	at, err := c.reach()
	if err != nil {
		return err
	}
	if mayCall(args) {
		var all view.Commands
		if all, err = at.AllCommands(ctx); err == nil {
			ask.Profile, prompt, ask.Command, err = serverCall(args, all.Commands)
		}
	}
	if err == nil {
		if prompt != "" {
			ask.Parts = []message.Part{message.Text{Text: prompt}}
		}
		err = c.ask(ctx, at, f, ask, attended)
	}
	return c.close(at, err)
}

// serverCall is called for the commands of a server, which says itself that it has none
// of a name: it knows more than it lists, such as skills.
func serverCall(args []string, known []view.Command) (profile, text string, call *session.Command, err error) {
	by, text, err := called(args, func(name string) bool {
		return slices.ContainsFunc(known, func(k view.Command) bool { return command.SameName(k.Name, name) })
	})
	if by == nil {
		return args[0], text, nil, err
	}
	return by.Profile, "", &session.Command{Name: by.Name, Arguments: by.Arguments}, nil
}

// compose puts the prompt into ask: the text with the files that it names, or what the
// command comes to that it calls.
func (c *cli) compose(ctx context.Context, app *roster.App, args []string, prompt string, f runFlags, ask *roster.Ask) error {
	if mayCall(args) {
		call, text, err := called(args, func(name string) bool {
			_, err := app.ShowCommand(name)
			return err == nil
		})
		if err != nil {
			return err
		}
		if call != nil {
			call.Flags, call.AllowAll = ask.Flags, ask.AllowAll
			p, err := c.expand(ctx, app, f, *call, !ask.Headless && c.attended())
			if err == nil {
				p.Into(ask)
			}
			return err
		}
		prompt = text
	}
	var err error
	if ask.Parts, err = c.parts(ctx, app, args, prompt, ask.Flags); err != nil {
		return err
	}
	return c.askTrust(ctx, app, *ask, !f.nonInteractive && c.canAsk(args[1:]))
}

// settle settles which session is gone on with, and that it is there.
func (f *runFlags) settle(ctx context.Context, at place, ask *roster.Ask) error {
	if f.continues {
		id, err := newestSession(ctx, at, ask.Profile)
		if err != nil {
			return err
		}
		ask.Key.Stream = id
	}
	if ask.Key.Stream == "" {
		return nil
	}
	return knownSession(ctx, at, ask.Key.Stream)
}

func (c *cli) ask(ctx context.Context, at place, f runFlags, ask roster.Ask, attended bool) error {
	if err := f.settle(ctx, at, &ask); err != nil {
		return err
	}
	sub, err := at.Submit(ctx, ask)
	if err != nil {
		return err
	}
	if from := ask.Key.Stream; from != "" && from != sub.Key.Stream && !c.quiet {
		fmt.Fprintf(c.stderr, "roster: session %s has rested longer than session.rotate-after: this goes on in the new session %s\n", from, sub.Key.Stream)
	}
	w := roster.Watch{Post: sub.Post}
	return c.follow(ctx, watched{at: at, key: sub.Key, after: sub.After(), end: w.See, attended: attended})
}

// parts are the prompt with the files that it names. What comes from standard
// input may be anybody's text: it names none.
func (c *cli) parts(ctx context.Context, app *roster.App, args []string, prompt string, flags map[string]string) ([]message.Part, error) {
	if args[1] == "-" {
		return []message.Part{message.Text{Text: prompt}}, nil
	}
	parts, missed, err := app.Attach(ctx, args[0], session.Overrides{Flags: flags}, prompt)
	for _, path := range missed {
		c.note("@" + render.Safe(path) + " names no file here: it is sent as text")
	}
	return parts, err
}

// note says something beside the work.
func (c *cli) note(text string) {
	switch {
	case c.onNote != nil:
		c.onNote(text)
	case !c.quiet:
		fmt.Fprintln(c.stderr, "roster: "+text)
	}
}

// prompt reads the prompt from the arguments or, where they say so, from
// standard input.
func (c *cli) prompt(args []string) (string, error) {
	if len(args) == 0 {
		return "", usagef("PROMPT is missing: give it as one argument, or - to read it from standard input")
	}
	text := args[0]
	if text == "-" {
		data, err := io.ReadAll(io.LimitReader(c.stdin, maxPrompt+1))
		if err != nil {
			return "", fmt.Errorf("reading the prompt from standard input: %w", err)
		}
		if len(data) > maxPrompt {
			return "", usagef("the prompt on standard input is over %d MiB: put it into a file of the workspace and name that", maxPrompt>>20)
		}
		text = string(data)
	}
	if strings.TrimSpace(text) == "" {
		return "", usagef("the prompt is empty (%d bytes): say what to do", len(text))
	}
	return text, nil
}

// readSchema reads the schema of the answer; a little more than it may have, so
// that one that is too long is refused.
func (c *cli) readSchema(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, usagef("--schema: %v", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPrompt))
	if err == nil && len(text) == 0 {
		err = fmt.Errorf("%s is empty", path)
	}
	if err != nil {
		return nil, usagef("--schema: %v", err)
	}
	return text, nil
}

func modeFlag(cmd *cobra.Command, f *runFlags) {
	cmd.Flags().StringVar(&f.mode, "mode", "", "the permission `MODE`: default, plan, accept-edits, dont-ask or bypass")
}

// overrides are the flags as profile keys.
func (f *runFlags) overrides() (map[string]string, error) {
	set := map[string]string{}
	for _, kv := range f.set {
		key, value, ok := strings.Cut(kv, "=")
		if !ok || key == "" {
			return nil, usagef("--set %s: write KEY=VALUE, such as temperature=0.2", kv)
		}
		set[key] = value
	}
	if f.mode != "" {
		mode, err := permission.ParseMode(f.mode)
		if err != nil {
			return nil, usagef("--mode: %v", err)
		}
		if mode == permission.ModeBypass && !f.allowAll {
			return nil, usagef("--mode bypass runs everything unasked that is not denied: say so with --dangerously-allow-all")
		}
		set["permission-mode"] = f.mode
	}
	if f.onDeny != "" && f.onDeny != "stop" {
		return nil, usagef("--on-deny %s: the only value is stop", f.onDeny)
	}
	if f.approvals != "" && f.approvals != "wait" && f.approvals != "deny" {
		return nil, usagef("--approvals %s: it takes wait or deny", f.approvals)
	}
	if f.session != "" && f.continues {
		return nil, usagef("--session and --continue exclude each other")
	}
	if f.record != "" && f.replay != "" {
		return nil, usagef("--record and --replay exclude each other")
	}
	if f.maxTurns < 0 || !(f.maxCost >= 0) { // not a number is no limit
		return nil, usagef("--max-turns and --max-cost must be numbers, and not negative")
	}
	if f.worktree {
		set["workspace"] = spec.InWorktree
	}
	if f.model != "" {
		set["model"] = f.model
	}
	if f.maxTurns > 0 {
		set["limits.turns"] = strconv.Itoa(f.maxTurns)
	}
	if f.maxCost > 0 {
		set["limits.cost"] = strconv.FormatFloat(f.maxCost, 'g', -1, 64)
	}
	return set, nil
}
