package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/session"
)

func (c *cli) approvalsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approvals",
		Short: "What waits until somebody allows or answers it, and what was allowed for good",
		Args:  subcommand,
		RunE:  needSubcommand,
	}
	cmd.AddCommand(c.approvalsListCommand(), c.approvalsAnswerCommand(), c.approvalsGrantsCommand(), c.approvalsRevokeCommand())
	return cmd
}

// withPlace opens the workspace, or reaches the server, for a command.
func (c *cli) withPlace(do func(place) error) error {
	at, err := c.reach()
	if err != nil {
		return err
	}
	return c.close(at, do(at))
}

// withApp opens the workspace for a command.
func (c *cli) withApp(do func(*roster.App) error) error {
	app, err := c.open(roster.Options{})
	if err != nil {
		return err
	}
	return c.close(app, do(app))
}

func (c *cli) approvalsListCommand() *cobra.Command {
	var id string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what waits for an answer, the oldest first",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withPlace(func(at place) error { return c.listApprovals(cmd.Context(), at, id) })
		},
	}
	cmd.Flags().StringVar(&id, "session", "", "only those of the session `ID`")
	return cmd
}

func (c *cli) listApprovals(ctx context.Context, at place, id string) error {
	if id != "" {
		if err := knownSession(ctx, at, id); err != nil {
			return err
		}
	}
	list, err := at.Approvals(ctx, session.Key{Tenant: roster.LocalTenant, Stream: id})
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(list)
	}
	if len(list) == 0 {
		if !c.quiet {
			fmt.Fprintln(c.stderr, "roster: nothing waits for an answer")
		}
		return nil
	}
	rows := make([][]string, len(list))
	for i, a := range list {
		expires := "never"
		if !a.Expires.IsZero() {
			expires = a.Expires.Local().Format(time.DateTime)
		}
		rows[i] = []string{a.ID, a.AgentID, strings.Join(a.Shown, "; "), a.Asked.Local().Format(time.DateTime), expires}
	}
	render.Table(c.stdout, c.style(c.stdout.file), []string{"ID", "PROFILE", "WANTS", "ASKED", "EXPIRES"}, rows)
	return nil
}

func (c *cli) approvalsAnswerCommand() *cobra.Command {
	answer := roster.Answer{By: roster.LocalTenant}
	cmd := &cobra.Command{
		Use:   "answer ID once|session|always|no|--text TEXT",
		Short: "Answer what waits",
		Long: `once allows this call, session the same for the rest of the session, always the
same for this profile in this workspace, until it is revoked. no refuses the call;
with --for-session also the same for the rest of the session.

The first answer counts. A yes never lifts a rule that denies, and does not count
for something else than what was shown: if the file that would be changed is not
as it was, it is asked anew.

--text answers a question of the tool ask_user; no says that there is no answer.

A session of a server goes on by itself; another one with roster sessions resume.`,
		Example: "  roster approvals answer 0198c6de-5d1b-7c3a-9d5e-2f6a1c0b7e11.1 once\n" +
			"  roster approvals answer 0198c6de-5d1b-7c3a-9d5e-2f6a1c0b7e11.1 no --message \"Not on Fridays\"\n" +
			"  roster approvals answer 0198c6de-5d1b-7c3a-9d5e-2f6a1c0b7e11.2 --text \"The second one\"",
		Args:      arguments(1, "ID", "ANSWER"),
		ValidArgs: []string{"once", "session", "always", "no"},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch texted := cmd.Flags().Changed("text"); {
			case texted && len(args) > 1:
				return usagef("--text and %s exclude each other", args[1])
			case texted:
				answer.Answer = session.AnswerText
			case len(args) < 2:
				return usagef("the answer is missing: once, session, always or no, or --text TEXT for a question")
			default:
				answer.Answer = session.Answer(args[1])
			}
			return c.withPlace(func(at place) error { return c.answerApproval(cmd.Context(), at, args[0], answer) })
		},
	}
	cmd.Flags().StringVar(&answer.Text, "text", "", "answer a question with `TEXT`")
	cmd.Flags().StringVar(&answer.Message, "message", "", "with no: say `TEXT` to the model")
	cmd.Flags().BoolVar(&answer.ForSession, "for-session", false, "with no: refuse the same for the rest of the session")
	return cmd
}

func (c *cli) answerApproval(ctx context.Context, at place, id string, answer roster.Answer) error {
	switch answer.Answer {
	case session.AnswerOnce, session.AnswerSession, session.AnswerAlways, session.AnswerNo:
	case session.AnswerText:
		if strings.TrimSpace(answer.Text) == "" {
			return usagef("--text is empty: who does not want to answer says no")
		}
	default:
		return usagef("%s: the answers are once, session, always and no", answer.Answer)
	}
	a, err := at.Answer(ctx, roster.LocalTenant, id, answer)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(map[string]string{"id": a.ID, "sessionId": a.SessionID, "answer": string(answer.Answer)})
	}
	if c.quiet {
		return nil
	}
	fmt.Fprintf(c.stderr, "roster: answered %s: %s\n", answer.Answer, strings.Join(a.Shown, "; "))
	sum, err := summary(ctx, at, session.Key{Tenant: roster.LocalTenant, Stream: a.SessionID})
	if err == nil && !sum.Shared {
		fmt.Fprintf(c.stderr, "roster: roster sessions resume %s goes on with it\n", a.SessionID)
	}
	return err
}

func (c *cli) approvalsGrantsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "grants",
		Short: "List what has been allowed for good in the workspace",
		Args:  exactly(),
		RunE: func(*cobra.Command, []string) error {
			return c.withApp(func(app *roster.App) error { return c.listGrants(app) })
		},
	}
}

func (c *cli) listGrants(app *roster.App) error {
	list, err := app.Grants()
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(append([]roster.Grant{}, list...))
	}
	if len(list) == 0 {
		if !c.quiet {
			fmt.Fprintln(c.stderr, "roster: nothing has been allowed for good")
		}
		return nil
	}
	rows := make([][]string, len(list))
	for i, g := range list {
		what := render.Visible(g.Tool + " " + g.Subject)
		if g.Dir != "" {
			what += render.Visible(" (in " + g.Dir + ")")
		}
		rows[i] = []string{g.ID, g.User, g.Profile, what, g.Given.Local().Format(time.DateTime)}
	}
	render.Table(c.stdout, c.style(c.stdout.file), []string{"ID", "USER", "PROFILE", "MAY", "GIVEN"}, rows)
	return nil
}

func (c *cli) approvalsRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "Take back what was allowed for good",
		Long:  "A run that is going on sees it at its next call. The beginning of an ID is enough.",
		Args:  exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withApp(func(app *roster.App) error {
				g, err := app.RevokeGrant(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if c.json {
					return c.writeJSON(g)
				}
				if !c.quiet {
					fmt.Fprintf(c.stderr, "roster: %s may not use %s any more without being asked for\n", g.Profile, render.Visible(g.Tool+" "+g.Subject))
				}
				return nil
			})
		},
	}
}
