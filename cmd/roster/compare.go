package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

type compareFlags struct {
	profiles, models []string
	pick, judge      string
	session          string
	run              runFlags
}

func (c *cli) compareCommand() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare PROMPT",
		Short: "Ask several profiles or models the same at once, and go on with one answer",
		Long: `Asks each profile, with each model if there are any, on a copy of the session. The
session goes on with the answer that is picked, and the others are kept as
sessions that branch off it. The answer is written to standard output.

first picks the first answer that is there, and cancels the others; fewest and
most go by the tokens that an answer took; judge has another profile say which is
the best, and if it does not name one, picks the first.

All of them work in the same workspace at the same time, and nobody is asked for
anything: what would be asked is denied. --mode plan keeps them from changing
files.`,
		Example: `  roster compare "Why does the build fail?" --profile reviewer --profile researcher --pick judge --judge reviewer
  roster compare "And in one sentence?" --session 0198c6de-5d1b-7c3a-9d5e-2f6a1c0b7e11 --model sonnet --model haiku --pick fewest`,
		Args: exactly("PROMPT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.compare(cmd.Context(), args, f)
		},
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&f.profiles, "profile", nil, "ask the profile `NAME`; may be repeated; default: that of the session")
	fs.StringArrayVar(&f.models, "model", nil, "with the model `MODEL`; may be repeated")
	fs.StringVar(&f.pick, "pick", "", "how to pick: `first|fewest|most|judge`; default: judge with --judge, else first")
	fs.StringVar(&f.judge, "judge", "", "the `PROFILE` that picks")
	fs.StringVar(&f.session, "session", "", "go on with the session `ID`; default: a new one")
	modeFlag(cmd, &f.run)
	return cmd
}

func (c *cli) compare(ctx context.Context, args []string, f compareFlags) error {
	flags, err := f.run.overrides()
	if err != nil {
		return err
	}
	prompt, err := c.prompt(args)
	if err != nil {
		return err
	}
	want := roster.Comparison{
		Key:   session.Key{Stream: f.session},
		Parts: []message.Part{message.Text{Text: prompt}}, Candidates: f.candidates(),
		Pick: f.pick, Judge: f.judge, Flags: flags,
	}
	if want.Pick == "" {
		want.Pick = roster.PickFirst
		if want.Judge != "" {
			want.Pick = roster.PickJudge
		}
	}
	if f.session == "" && len(f.profiles) == 0 {
		return usagef("--profile is missing: a new session has no profile")
	}
	app, err := c.open(roster.Options{})
	if err != nil {
		return err
	}
	return c.close(app, c.runComparison(ctx, app, want))
}

// candidates are each profile with each model.
func (f *compareFlags) candidates() []roster.Candidate {
	profiles := f.profiles
	if len(profiles) == 0 {
		profiles = []string{""}
	}
	var list []roster.Candidate
	for _, p := range profiles {
		for _, m := range f.models {
			list = append(list, roster.Candidate{Profile: p, Flags: map[string]string{"model": m}})
		}
		if len(f.models) == 0 {
			list = append(list, roster.Candidate{Profile: p})
		}
	}
	return list
}

func (c *cli) runComparison(ctx context.Context, app *roster.App, want roster.Comparison) error {
	if want.Key.Stream != "" {
		if err := knownSession(ctx, app, want.Key.Stream); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)() // a second interrupt ends the program
	got, err := app.Compare(ctx, want)
	if wrong := (*roster.ComparisonError)(nil); errors.As(err, &wrong) && len(got.Answers) == 0 {
		return usagef("%v", err)
	}
	if !c.quiet && !c.json {
		c.showAnswers(&got)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return exit(exitInterrupted)
	case err != nil:
		return err
	case c.json:
		return c.writeJSON(comparedView(&got))
	}
	fmt.Fprintln(c.stdout, render.Safe(strings.TrimRight(got.Answers[got.Winner].End.Text, "\n")))
	return nil
}

func (c *cli) showAnswers(got *roster.Compared) {
	for i := range got.Answers {
		b := &got.Answers[i]
		mark, how := " ", "it could not be asked"
		if i == got.Winner {
			mark = "*"
		}
		if b.End != nil {
			how = fmt.Sprintf("%s · %s", b.End.Reason, render.Usage(b.End.Usage))
		}
		fmt.Fprintf(c.stderr, "%s %s · %s · %s · session %s\n", mark, render.Visible(b.Profile), render.Visible(b.Model), how, b.Key.Stream)
	}
	if got.Note != "" {
		fmt.Fprintf(c.stderr, "roster: %s\n", render.Visible(got.Note))
	}
	if got.Winner >= 0 {
		fmt.Fprintf(c.stderr, "session: %s\n", got.Key.Stream)
	}
}

// comparedJSON is a comparison for programs.
type comparedJSON struct {
	ID      string         `json:"id"` // of the session that goes on
	Winner  int            `json:"winner"`
	Pick    string         `json:"pick"`
	Note    string         `json:"note,omitempty"`
	Judge   *branchedJSON  `json:"judge,omitempty"`
	Answers []branchedJSON `json:"answers"`
}

type branchedJSON struct {
	ID      string         `json:"id"`
	Profile string         `json:"profile"`
	Model   string         `json:"model"`
	Reason  session.Reason `json:"reason,omitempty"`
	Text    string         `json:"text"`
	Usage   message.Usage  `json:"usage"`
	Error   string         `json:"error,omitempty"`
}

func comparedView(got *roster.Compared) comparedJSON {
	v := comparedJSON{ID: got.Key.Stream, Winner: got.Winner, Pick: got.Pick, Note: got.Note, Answers: []branchedJSON{}}
	for i := range got.Answers {
		v.Answers = append(v.Answers, branchedView(&got.Answers[i]))
	}
	if got.Judge != nil {
		judge := branchedView(got.Judge)
		v.Judge = &judge
	}
	return v
}

func branchedView(b *roster.Branched) branchedJSON {
	v := branchedJSON{ID: b.Key.Stream, Profile: b.Profile, Model: b.Model}
	if b.Err != nil {
		v.Error = b.Err.Error()
	}
	if b.End != nil {
		v.Reason, v.Text, v.Usage = b.End.Reason, b.End.Text, b.End.Usage
		if b.End.Error != nil {
			v.Error = b.End.Error.Error
		}
	}
	return v
}
