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
		c.sessionsShowCommand(), c.sessionsForkCommand(), c.sessionsRequestCommand(),
		c.sessionsSearchCommand(), c.sessionsPruneCommand(), c.sessionsExportCommand(), c.sessionsImportCommand(),
		c.sessionsTreeCommand(), c.sessionsRevertCommand(), c.sessionsRotateCommand(), c.sessionsRerunCommand(), c.sessionsUndoCommand(),
		c.worktreeCommand(),
		c.sessionCommand("resume ID", "Go on with a session whose process is gone",
			"Takes up a run that was cut off, and shows it to its end. Model calls that were\nanswered are not made again; a tool call whose outcome is not known is told to\nthe model as such.", c.resumeSession),
		c.cancelCommand(),
		c.noteCommand("steer ID TEXT", "Tell a running session something now",
			"The text reaches the model after the tool calls that have started.", place.Steer),
		c.noteCommand("followup ID TEXT", "Tell a running session something for its end",
			"The text reaches the model when it has answered.", place.Followup),
	)
	return cmd
}

// sessionCommand makes a command that takes the id of a session; not of a child,
// which is run as part of its stream.
func (c *cli) sessionCommand(use, short, long string, do func(context.Context, *roster.App, session.Key) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long, Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRoot(cmd.Context(), args[0], do)
		},
	}
}

// withSession opens the workspace for one of its sessions: a stream, and the
// session in it.
func (c *cli) withSession(ctx context.Context, id string, do func(context.Context, *roster.App, session.Key, string) error) error {
	app, err := c.open(roster.Options{})
	if err != nil {
		return err
	}
	return c.ofSession(ctx, here{app}, id, func(ctx context.Context, _ place, k session.Key, id string) error {
		return do(ctx, app, k, id)
	})
}

// atSession is withSession, here or at a server.
func (c *cli) atSession(ctx context.Context, id string, do func(context.Context, place, session.Key, string) error) error {
	at, err := c.reach()
	if err != nil {
		return err
	}
	return c.ofSession(ctx, at, id, do)
}

func (c *cli) ofSession(ctx context.Context, at place, id string, do func(context.Context, place, session.Key, string) error) error {
	stream := session.StreamOf(id)
	err := knownSession(ctx, at, stream)
	if err == nil {
		err = do(ctx, at, session.Key{Tenant: roster.LocalTenant, Stream: stream}, id)
	}
	return c.close(at, err)
}

func (c *cli) withRoot(ctx context.Context, id string, do func(context.Context, *roster.App, session.Key) error) error {
	return c.withSession(ctx, id, func(ctx context.Context, app *roster.App, k session.Key, id string) error {
		if id != k.Stream {
			return usagef("session %s works for session %s: name that one", id, k.Stream)
		}
		return do(ctx, app, k)
	})
}

// atRoot is withRoot, here or at a server.
func (c *cli) atRoot(ctx context.Context, id string, do func(context.Context, place, session.Key) error) error {
	return c.atSession(ctx, id, func(ctx context.Context, at place, k session.Key, id string) error {
		if id != k.Stream {
			return usagef("session %s works for session %s: name that one", id, k.Stream)
		}
		return do(ctx, at, k)
	})
}

func (c *cli) noteCommand(use, short, long string, post func(place, context.Context, session.Key, []message.Part) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long, Args: exactly("ID", "TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(args[1]) == "" {
				return usagef("TEXT is empty (%d bytes): say something", len(args[1]))
			}
			return c.atRoot(cmd.Context(), args[0], func(ctx context.Context, at place, k session.Key) error {
				sum, err := summary(ctx, at, k)
				if err == nil {
					err = post(at, ctx, k, []message.Part{message.Text{Text: args[1]}})
				}
				if err == nil && sum.Status() == session.Idle && !at.GoesOn() && !c.quiet {
					fmt.Fprintf(c.stderr, "roster: session %s was not running: this is its next prompt; roster sessions resume %s runs it\n", k.Stream, k.Stream)
				}
				return err
			})
		},
	}
}

func summary(ctx context.Context, at conversations, k session.Key) (session.Summary, error) {
	b, err := at.Reader(ctx)
	if err != nil {
		return session.Summary{}, err
	}
	return b.Summary(ctx, k)
}

// knownSession says where to look if there is no session with this id.
func knownSession(ctx context.Context, at place, id string) error {
	_, err := summary(ctx, at, session.Key{Tenant: roster.LocalTenant, Stream: id})
	if errors.Is(err, session.ErrNoStream) {
		return fmt.Errorf("session %q: %w in %s: see roster sessions list", id, session.ErrNoStream, at.StateDir())
	}
	return err
}

// newestSession finds the newest session of a profile.
func newestSession(ctx context.Context, at conversations, profile string) (string, error) {
	b, err := at.Reader(ctx)
	if err != nil {
		return "", err
	}
	for s, err := range b.List(ctx, roster.LocalTenant, session.Query{Profile: profile, Limit: 1}) {
		if err != nil {
			return "", err
		}
		return s.Key.Stream, nil
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
	var status, profile string
	var limit int
	var children bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the sessions of the workspace, the newest first",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.listSessions(cmd.Context(), session.Query{Status: session.Status(status), Profile: profile, Limit: limit}, children)
		},
	}
	cmd.Flags().StringVar(&status, "status", "", "only those that are `STATUS`: idle, running, waiting or failed")
	cmd.Flags().StringVar(&profile, "profile", "", "only those of the profile `NAME`")
	cmd.Flags().IntVar(&limit, "limit", 0, "at most `N`")
	cmd.Flags().BoolVar(&children, "children", false, "below each, the sessions that it delegated to")
	return cmd
}

func (c *cli) listSessions(ctx context.Context, q session.Query, children bool) error {
	switch q.Status {
	case "", session.Idle, session.Running, session.Waiting, session.Failed:
	default:
		return usagef("--status %s: the statuses are idle, running, waiting and failed", q.Status)
	}
	at, err := c.reach()
	if err != nil {
		return err
	}
	return c.close(at, c.writeSessions(ctx, at, q, children))
}

func (c *cli) writeSessions(ctx context.Context, at place, q session.Query, children bool) error {
	b, err := at.Reader(ctx)
	if err != nil {
		return err
	}
	list := []view.Session{}
	var rows [][]string
	branches := false
	add := func(v view.Session) {
		list = append(list, v)
		origin := ""
		if v.Origin != "" {
			origin, branches = v.Why+" of "+v.Origin, true
		}
		rows = append(rows, []string{strings.Repeat("  ", v.Depth) + v.ID, v.Profile, string(v.Status), fmt.Sprint(v.Turns),
			v.Updated.Local().Format(time.DateTime), v.Title, origin})
	}
	for s, err := range b.List(ctx, roster.LocalTenant, q) {
		if err != nil {
			return err
		}
		add(view.NewSession(&s))
		if !children || s.Children == 0 {
			continue
		}
		c, err := view.ReadConversation(ctx, b, s.Key, s.Key.Stream, false)
		if err != nil {
			return err
		}
		for _, child := range c.Sessions {
			add(child)
		}
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
	heads := []string{"ID", "PROFILE", "STATUS", "TURNS", "UPDATED", "TITLE", "BRANCH"}
	if !branches {
		heads = heads[:len(heads)-1]
		for i := range rows {
			rows[i] = rows[i][:len(heads)]
		}
	}
	render.Table(c.stdout, c.style(c.stdout.file), heads, rows)
	return nil
}

func (c *cli) sessionsEventsCommand() *cobra.Command {
	var after int64
	cmd := &cobra.Command{
		Use:   "events ID",
		Short: "Write a session's events, one JSON object a line",
		Long: `Writes the events of a session and of all that it delegated to, in the order in
which they were stored. The id of a child session (ID_1) narrows them to that
child and what is below it.`,
		Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.atSession(cmd.Context(), args[0], func(ctx context.Context, at place, k session.Key, id string) error {
				return c.writeEvents(ctx, at, k, id, after)
			})
		},
	}
	cmd.Flags().Int64Var(&after, "after", 0, "only those after the event `SEQ`")
	return cmd
}

func (c *cli) writeEvents(ctx context.Context, at place, k session.Key, id string, after int64) error {
	b, err := at.Reader(ctx)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(c.stdout)
	var buf []byte
	known := id == k.Stream || after > 0
	for e, err := range b.Read(ctx, k, after) {
		if err != nil {
			return err
		}
		if !session.Within(e.Session, id) {
			continue
		}
		known = true
		buf = append(e.AppendJSON(buf[:0]), '\n')
		if _, err := out.Write(buf); err != nil {
			return err
		}
	}
	if !known {
		return noChild(id, k)
	}
	return out.Flush()
}

// noChild says that a stream has no child of that id.
func noChild(id string, k session.Key) error {
	return fmt.Errorf("session %q: %w: see roster sessions show %s", id, session.ErrNoStream, k.Stream)
}

func (c *cli) sessionsShowCommand() *cobra.Command {
	var full bool
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show a session's conversation, and what it delegated", Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.atSession(cmd.Context(), args[0], func(ctx context.Context, at place, k session.Key, id string) error {
				return c.showSession(ctx, at, k, id, full)
			})
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "as it was before any of it was summed up, cut or left out to save room")
	return cmd
}

func (c *cli) sessionsForkCommand() *cobra.Command {
	var at string
	cmd := &cobra.Command{
		Use:   "fork ID",
		Short: "Begin a session with a copy of another one",
		Long: `Begins a session with a copy of what another one has said, and writes its ID. The
other one stays as it is. A child session (ID_1) can be forked too. With --at the
copy ends at any message that roster sessions tree lists.`,
		Example: "  roster run reviewer --session $(roster sessions fork 0198c6de-5d1b-7c3a-9d5e-2f6a1c0b7e11) \"And now in Go\"",
		Args:    exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.atSession(cmd.Context(), args[0], func(ctx context.Context, where place, k session.Key, id string) error {
				to, err := where.Fork(ctx, k, id, at)
				if err != nil {
					return err
				}
				if c.json {
					return c.writeJSON(map[string]string{"id": to.Stream, "origin": id})
				}
				fmt.Fprintln(c.stdout, to.Stream)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&at, "at", "", "with what was said up to the message `ID`; default: all")
	return cmd
}

func (c *cli) showSession(ctx context.Context, at place, k session.Key, id string, full bool) error {
	b, err := at.Reader(ctx)
	if err != nil {
		return err
	}
	v, err := view.ReadConversation(ctx, b, k, id, full)
	if errors.Is(err, session.ErrNoStream) {
		return noChild(id, k)
	}
	if err != nil {
		return err
	}
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
	err = app.Resume(ctx, k)
	waits := errors.Is(err, session.ErrNoWork) && before.Suspended
	if errors.Is(err, session.ErrNoWork) && !waits {
		return c.nothingToResume(before)
	}
	if err != nil && !waits {
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
	return c.follow(ctx, watched{at: here{app}, key: k, after: before.Last, begun: before.Open, end: last, attended: c.attended(), waits: waits})
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

func (c *cli) cancelCommand() *cobra.Command {
	return &cobra.Command{
		Use: "cancel ID", Short: "Cancel the run of a session", Long: "What was said so far is kept.", Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.atRoot(cmd.Context(), args[0], c.cancelSession)
		},
	}
}

func (c *cli) cancelSession(ctx context.Context, at place, k session.Key) error {
	before, err := summary(ctx, at, k)
	if err != nil {
		return err
	}
	if err := at.Cancel(ctx, k, "cancelled with roster sessions cancel"); err != nil || !before.Suspended {
		return err
	}
	if err := at.Resume(ctx, k); !errors.Is(err, session.ErrNoWork) { // nobody runs it: it is ended here
		return err
	}
	return nil
}
