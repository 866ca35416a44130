package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

func (c *cli) sessionsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "Sessions: what ran, and what still runs",
		Args:  subcommand,
		RunE:  needSubcommand,
	}
	cmd.AddCommand(
		c.sessionsListCommand(), c.sessionsEventsCommand(),
		c.sessionCommand("show ID", "Show a session's conversation", "", c.showSession),
		c.sessionCommand("resume ID", "Go on with a session whose process is gone",
			"Takes up a run that was cut off, and shows it to its end. Model calls that were\nanswered are not made again; a tool call whose outcome is not known is told to\nthe model as such.", c.resumeSession),
		c.sessionCommand("cancel ID", "Cancel the run of a session", "What was said so far is kept.", c.cancelSession),
		c.noteCommand("steer ID TEXT", "Tell a running session something now",
			"The text reaches the model after the tool calls that have started.", (*roster.App).Steer),
		c.noteCommand("followup ID TEXT", "Tell a running session something for its end",
			"The text reaches the model when it has answered.", (*roster.App).Followup),
	)
	return cmd
}

// sessionCommand makes a command that takes the id of a session.
func (c *cli) sessionCommand(use, short, long string, do func(context.Context, *roster.App, session.Key) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long, Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withSession(cmd.Context(), args[0], do)
		},
	}
}

// withSession opens the workspace for one of its sessions.
func (c *cli) withSession(ctx context.Context, id string, do func(context.Context, *roster.App, session.Key) error) error {
	app, err := c.open(roster.Options{})
	if err != nil {
		return err
	}
	if err = knownSession(ctx, app, id); err == nil {
		err = do(ctx, app, session.Key{Tenant: roster.LocalTenant, Stream: id})
	}
	return c.close(app, err)
}

func (c *cli) noteCommand(use, short, long string, post func(*roster.App, context.Context, session.Key, []message.Part) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long, Args: exactly("ID", "TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(args[1]) == "" {
				return usagef("TEXT is empty (%d bytes): say something", len(args[1]))
			}
			return c.withSession(cmd.Context(), args[0], func(ctx context.Context, app *roster.App, k session.Key) error {
				idle, err := isIdle(ctx, app, k)
				if err == nil {
					err = post(app, ctx, k, []message.Part{message.Text{Text: args[1]}})
				}
				if err == nil && idle && !c.quiet {
					fmt.Fprintf(c.stderr, "roster: session %s was not running: this is its next prompt; roster sessions resume %s runs it\n", k.Stream, k.Stream)
				}
				return err
			})
		},
	}
}

func isIdle(ctx context.Context, app *roster.App, k session.Key) (bool, error) {
	b, err := app.Backend(ctx)
	if err != nil {
		return false, err
	}
	sum, err := b.Summary(ctx, k)
	return err == nil && sum.Status() == session.Idle, err
}

// knownSession says where to look if there is no session with this id.
func knownSession(ctx context.Context, app *roster.App, id string) error {
	b, err := app.Backend(ctx)
	if err != nil {
		return err
	}
	_, err = b.Summary(ctx, session.Key{Tenant: roster.LocalTenant, Stream: id})
	if errors.Is(err, session.ErrNoStream) {
		return fmt.Errorf("session %q: %w in %s: see roster sessions list", id, session.ErrNoStream, app.StateDir())
	}
	return err
}

// newestSession finds the newest session of a profile.
func newestSession(ctx context.Context, app *roster.App, profile string) (string, error) {
	b, err := app.Backend(ctx)
	if err != nil {
		return "", err
	}
	for s, err := range b.List(ctx, roster.LocalTenant, session.Query{}) {
		if err != nil {
			return "", err
		}
		if s.Profile == profile {
			return s.Key.Stream, nil
		}
	}
	return "", &nothingToContinue{profile}
}

// nothingToContinue says that a profile has no session yet.
type nothingToContinue struct{ profile string }

func (e *nothingToContinue) Error() string {
	return fmt.Sprintf("profile %s has no session to continue: leave --continue out to begin one", e.profile)
}

func (e *nothingToContinue) Unwrap() error { return session.ErrNoStream }

func (c *cli) sessionsListCommand() *cobra.Command {
	var status string
	var limit int
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the sessions of the workspace, the newest first",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.listSessions(cmd.Context(), session.Query{Status: session.Status(status), Limit: limit})
		},
	}
	cmd.Flags().StringVar(&status, "status", "", "only those that are `STATUS`: idle, running, waiting or failed")
	cmd.Flags().IntVar(&limit, "limit", 0, "at most `N`")
	return cmd
}

func (c *cli) listSessions(ctx context.Context, q session.Query) error {
	switch q.Status {
	case "", session.Idle, session.Running, session.Waiting, session.Failed:
	default:
		return usagef("--status %s: the statuses are idle, running, waiting and failed", q.Status)
	}
	app, err := c.open(roster.Options{})
	if err != nil {
		return err
	}
	return c.close(app, c.writeSessions(ctx, app, q))
}

func (c *cli) writeSessions(ctx context.Context, app *roster.App, q session.Query) error {
	b, err := app.Backend(ctx)
	if err != nil {
		return err
	}
	list := []view.Session{}
	var rows [][]string
	for s, err := range b.List(ctx, roster.LocalTenant, q) {
		if err != nil {
			return err
		}
		list = append(list, view.NewSession(&s))
		rows = append(rows, []string{s.Key.Stream, s.Profile, string(s.Status()), fmt.Sprint(s.Turns),
			s.Updated.Local().Format(time.DateTime), s.Title})
	}
	if c.json {
		return c.writeJSON(list)
	}
	if len(rows) == 0 {
		if !c.quiet {
			fmt.Fprintln(c.stderr, "roster: no sessions")
		}
		return nil
	}
	render.Table(c.stdout, c.style(c.stdout.file), []string{"ID", "PROFILE", "STATUS", "TURNS", "UPDATED", "TITLE"}, rows)
	return nil
}

func (c *cli) sessionsEventsCommand() *cobra.Command {
	var after int64
	cmd := &cobra.Command{
		Use:   "events ID",
		Short: "Write a session's events, one JSON object a line",
		Args:  exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withSession(cmd.Context(), args[0], func(ctx context.Context, app *roster.App, k session.Key) error {
				return c.writeEvents(ctx, app, k, after)
			})
		},
	}
	cmd.Flags().Int64Var(&after, "after", 0, "only those after the event `SEQ`")
	return cmd
}

func (c *cli) writeEvents(ctx context.Context, app *roster.App, k session.Key, after int64) error {
	b, err := app.Backend(ctx)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(c.stdout)
	var buf []byte
	for e, err := range b.Read(ctx, k, after) {
		if err != nil {
			return err
		}
		buf = append(e.AppendJSON(buf[:0]), '\n')
		if _, err := out.Write(buf); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (c *cli) showSession(ctx context.Context, app *roster.App, k session.Key) error {
	b, err := app.Backend(ctx)
	if err != nil {
		return err
	}
	sum, err := b.Summary(ctx, k)
	if err != nil {
		return err
	}
	st := session.NewState(k)
	for e, err := range b.Read(ctx, k, 0) {
		if err == nil {
			err = st.Apply(&e)
		}
		if err != nil {
			return err
		}
	}
	v := view.NewConversation(&sum, st.Root.Messages)
	if c.json {
		return c.writeJSON(v)
	}
	render.Conversation(c.stdout, c.style(c.stdout.file), v)
	return nil
}

func (c *cli) resumeSession(ctx context.Context, app *roster.App, k session.Key) error {
	b, err := app.Backend(ctx)
	if err != nil {
		return err
	}
	before, err := b.Summary(ctx, k)
	if err != nil {
		return err
	}
	if err := app.Resume(ctx, k); err != nil {
		if errors.Is(err, session.ErrNoWork) {
			return c.nothingToResume(before)
		}
		return err
	}
	last := func(e *session.Event) *session.LoopEnd {
		body, err := e.Decode()
		end, ok := body.(*session.LoopEnd)
		if err != nil || !ok || e.Depth > 0 {
			return nil
		}
		if now, err := b.Summary(ctx, k); err == nil && now.Runnable() {
			return nil // further prompts were waiting
		}
		return end
	}
	return c.follow(ctx, watched{app: app, key: k, after: before.Last, begun: before.Open, end: last})
}

func (c *cli) nothingToResume(s session.Summary) error {
	if s.Status() == session.Running {
		return fmt.Errorf("session %s is being run by another process: see roster sessions events", s.Key.Stream)
	}
	if c.json {
		return c.writeJSON(view.NewSession(&s))
	}
	if !c.quiet {
		fmt.Fprintf(c.stderr, "roster: session %s is %s: there is nothing to resume\n", s.Key.Stream, s.Status())
	}
	return nil
}

func (c *cli) cancelSession(ctx context.Context, app *roster.App, k session.Key) error {
	return app.Cancel(ctx, k, "cancelled with roster sessions cancel")
}
