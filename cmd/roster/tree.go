package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/session"
)

func (c *cli) sessionsTreeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "tree ID",
		Short: "Show all messages of a session, on every branch",
		Long: `Shows all messages of a session in the order in which they were said, also those
that were gone back from. What the next request sends has a star. AFTER names the
message that one follows, where that is not the line above.`,
		Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.atSession(cmd.Context(), args[0], func(ctx context.Context, at place, k session.Key, id string) error {
				list, err := at.Tree(ctx, k, id)
				if err != nil {
					return err
				}
				if c.json {
					return c.writeJSON(list)
				}
				render.Tree(c.stdout, c.style(c.stdout.file), list)
				return nil
			})
		},
	}
}

func (c *cli) sessionsRevertCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revert ID [MESSAGE]",
		Short: "Take the last prompt back, or go on from another message",
		Long: `Has a session go on from a message that roster sessions tree lists: an earlier
one, or one of a branch that was gone back from. Without a MESSAGE it takes the last
prompt back. What was said since then stays in the log, and is sent no more. Files
and other things that were changed stay as they are: roster sessions undo takes
changes of files back. The session must not be running.`,
		Args: arguments(1, "ID", "MESSAGE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.revert(cmd.Context(), args[0], strings.Join(args[1:], ""))
		},
	}
}

func (c *cli) sessionsRotateCommand() *cobra.Command {
	var after string
	cmd := &cobra.Command{
		Use:   "rotate ID",
		Short: "Begin a session anew that was not used for a while",
		Long: `Writes the ID of the session to go on with: a new one without the conversation, as
the same profile and with the same settings, if nobody has said anything in the old
one for the time of --after; otherwise the same one. One that runs or waits for an
answer is gone on with. The old one stays as it is.`,
		Example: `  roster run reviewer --session "$(roster sessions rotate 0198c6de-5d1b-7c3a-9d5e-2f6a1c0b7e11 --after 8h)" "Good morning"`,
		Args:    exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			age, err := ageOf("--after", after)
			if err != nil {
				return err
			}
			return c.withRoot(cmd.Context(), args[0], func(ctx context.Context, app *roster.App, k session.Key) error {
				to, err := app.Rotate(ctx, k, age)
				if err != nil {
					return err
				}
				if c.json {
					return c.writeJSON(map[string]any{"id": to.Stream, "rotated": to != k})
				}
				_, err = fmt.Fprintln(c.stdout, to.Stream)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&after, "after", "", "if nobody has said anything for `TIME`, such as 8h or 1d; default: in any case")
	return cmd
}

// revert writes the message from which the session goes on.
func (c *cli) revert(ctx context.Context, id, to string) error {
	return c.atRoot(ctx, id, func(ctx context.Context, at place, k session.Key) error {
		last, err := at.Revert(ctx, k, to)
		if err != nil {
			return err
		}
		if c.json {
			return c.writeJSON(map[string]string{"id": k.Stream, "message": last})
		}
		if c.quiet {
			return nil
		}
		if last == "" {
			fmt.Fprintf(c.stderr, "roster: session %s begins anew\n", k.Stream)
			return nil
		}
		fmt.Fprintf(c.stderr, "roster: session %s goes on from message %s\n", k.Stream, last)
		return nil
	})
}

func (c *cli) sessionsRerunCommand() *cobra.Command {
	var f runFlags
	var at, profile string
	cmd := &cobra.Command{
		Use:   "rerun ID",
		Short: "Answer a prompt of a session anew",
		Long: `Answers the last prompt of a session anew, or the one that --at names, and shows
the run. The answer before, and what came after it, stay in the log, and are sent
no more: roster sessions tree lists them, and roster sessions revert goes back.`,
		Example: "  roster sessions rerun 0198c6de-5d1b-7c3a-9d5e-2f6a1c0b7e11 --model local/large",
		Args:    exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := f.overrides()
			if err != nil {
				return err
			}
			schema, err := c.readSchema(f.schema)
			if err != nil {
				return err
			}
			return c.atRoot(cmd.Context(), args[0], func(ctx context.Context, where place, k session.Key) error {
				attended := !f.nonInteractive && c.attended()
				sub, err := where.Rerun(ctx, k, at, roster.Ask{
					Profile: profile, Flags: set, AllowAll: f.allowAll, OnDeny: f.onDeny, Headless: f.headless(attended), Schema: schema,
				})
				if err != nil {
					return err
				}
				w := roster.Watch{Post: sub.Post}
				return c.follow(ctx, watched{at: where, key: sub.Key, after: sub.After(), end: w.See, attended: attended})
			})
		},
	}
	cmd.Flags().StringVar(&at, "at", "", "the prompt that is the user's message `ID`; default: the last one")
	cmd.Flags().StringVar(&profile, "profile", "", "have the profile `NAME` answer; default: the one of then")
	loopFlags(cmd, &f)
	return cmd
}
