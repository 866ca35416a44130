package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/profile"
)

// cli is one invocation: where it reads and writes, and the global flags.
type cli struct {
	stdin, stderr *os.File
	stdout        *output
	getenv        func(string) string

	dir, state           string
	profiles             []string
	json, quiet, noColor bool
	trust                bool
	server, keyFile      string

	// onWait is told in place of standard error that a server is out of reach. It is set
	// before anything is asked for at the same time as something else.
	onWait func(why error)
	// onNote is told in place of standard error what is said beside the work.
	onNote func(text string)
}

// output remembers the first error, so that what was not written is not lost in
// silence.
type output struct {
	file *os.File
	err  error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.file.Write(b)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

func (c *cli) execute(args []string) int {
	root := c.root()
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	if err == nil && c.stdout.err != nil {
		err = fmt.Errorf("standard output: %w", c.stdout.err)
	}
	return c.report(err, args)
}

func (c *cli) root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "roster",
		Short: "Load, explain and run agent profiles",
		Long: `Roster loads agent profiles from the formats people already have, says what each
one resolves to and why, and runs them: here, behind HTTP, or from Go.

Exit codes: 0 done, 1 failed, 2 usage, 3 denied or waiting for an approval,
4 a limit ended the run, 130 interrupted.`,
		Args:          subcommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := noEmptyFlag(cmd); err != nil {
				return err
			}
			return c.mayReach(cmd)
		},
	}
	cmd.SetIn(c.stdin)
	cmd.SetOut(c.stdout)
	cmd.SetErr(c.stderr)
	cmd.SetFlagErrorFunc(flagError)
	cmd.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)

	f := cmd.PersistentFlags()
	f.StringVar(&c.dir, "dir", "", "the workspace `DIR` itself (default: the nearest parent with a roster.yaml, else here)")
	f.StringVar(&c.state, "state", "", "the `DIR` of the database (default: outside the workspace, by its path)")
	f.StringArrayVar(&c.profiles, "profiles", nil, "a further `DIR` of profiles, which wins over the workspace's; may be repeated")
	f.BoolVar(&c.trust, "trust", false, "trust all that the workspace's files say, for this command (also: ROSTER_TRUST=1)")
	f.StringVar(&c.server, "server", "", "work with the server at `URL` (also: ROSTER_SERVER); a key for it is in ROSTER_KEY")
	f.StringVar(&c.keyFile, "key-file", "", "the `FILE` with the key for the server")
	f.BoolVar(&c.json, "json", false, "write JSON to stdout")
	f.BoolVar(&c.quiet, "quiet", false, "write nothing but the result and errors")
	f.BoolVar(&c.noColor, "no-color", false, "write no colours (also: NO_COLOR)")

	cmd.AddCommand(
		c.initCommand(), c.trustCommand(), c.runCommand(), c.chatCommand(), c.compareCommand(), c.serveCommand(),
		c.listCommand(), c.showCommand(), c.explainCommand(), c.permitCommand(), c.toolsCommand(), c.skillsCommand(), c.commandsCommand(), c.rigCommand(), c.tieOffsCommand(),
		c.newCommand(), c.rmCommand(), c.profileCommand(),
		c.checkCommand(), c.explainCodeCommand(), c.convertCommand(), c.schemaCommand(),
		c.keysCommand(), c.auditCommand(), c.modelsCommand(), c.openapiCommand(), c.doctorCommand(), c.sessionsCommand(), c.usageCommand(), c.approvalsCommand(), c.mcpCommand(), c.acpCommand(), c.versionCommand(),
	)
	return cmd
}

// open opens the workspace. What is wrong with its configuration but does not
// keep it from working is said on stderr.
func (c *cli) open(o roster.Options) (*roster.App, error) {
	o.State, o.Profiles, o.Getenv, o.Trust = c.state, c.profiles, c.getenv, c.trust
	if o.Log == nil && !c.quiet {
		o.Log = slog.New(slog.NewTextHandler(c.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	app, ds, err := c.openWorkspace(o)
	if err != nil {
		return nil, err
	}
	c.warn(ds)
	return app, nil
}

// openWorkspace opens what --dir names, and that alone: a tenant's folder that has no
// roster.yaml of its own would else be taken for the host's workspace.
func (c *cli) openWorkspace(o roster.Options) (*roster.App, []profile.Diagnostic, error) {
	o.Exact = c.dir != ""
	return roster.Open(c.dir, o)
}

// warn says the warnings among the diagnostics; notes are what check is for. Of
// what has no effect in a workspace that is not trusted it says the first, and
// how much more there is.
func (c *cli) warn(ds []profile.Diagnostic) {
	if c.quiet {
		return
	}
	inert := 0
	for i := range ds {
		if ds[i].Name == string(profile.ExecutingKey) {
			inert++
		}
		if ds[i].Name != string(profile.ExecutingKey) || inert == 1 {
			c.say(ds[i:i+1], profile.SeverityError, profile.SeverityWarning)
		}
	}
	if inert > 1 {
		fmt.Fprintf(c.stderr, "roster: %d more have no effect: see roster trust --list\n", inert-1)
	}
}

// say writes the diagnostics of the given severities to stderr.
func (c *cli) say(ds []profile.Diagnostic, severities ...profile.Severity) {
	for i := range ds {
		if slices.Contains(severities, ds[i].Severity) {
			render.Diagnostic(c.stderr, c.style(c.stderr), &ds[i], nil)
		}
	}
}

// closeTime bounds how long a command waits for its turns to end.
const closeTime = 10 * time.Second

// close closes the workspace after err, and gives what is to be reported.
func (c *cli) close(at interface{ Close(context.Context) error }, err error) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	closing := at.Close(ctx)
	if e := exit(0); closing != nil && errors.As(err, &e) {
		fmt.Fprintf(c.stderr, "roster: %v\n", closing)
		return err
	}
	return errors.Join(err, closing)
}

func terminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

func (c *cli) style(f *os.File) render.Style {
	color := !c.noColor && c.getenv("NO_COLOR") == "" && c.getenv("TERM") != "dumb" && terminal(f)
	return render.Style{Color: color}
}
