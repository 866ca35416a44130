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
	"github.com/rosterrun/roster/client"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
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
	at, err := c.reach()
	if err != nil {
		return err
	}
	return c.close(at, c.runComparison(ctx, at, want))
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

func (c *cli) runComparison(ctx context.Context, at place, want roster.Comparison) error {
	if want.Key.Stream != "" {
		if err := knownSession(ctx, at, want.Key.Stream); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)() // a second interrupt ends the program
	got, err := at.Compare(ctx, want)
	if wrong := (*roster.ComparisonError)(nil); errors.As(err, &wrong) && !wrong.Asked {
		return usagef("%v", err)
	}
	if !c.quiet && !c.json {
		c.showAnswers(&got)
	}
	switch {
	case errors.Is(err, context.Canceled):
		if at.GoesOn() {
			fmt.Fprintln(c.stderr, "roster: the comparison goes on: see roster sessions list, and roster sessions cancel")
		}
		return exit(exitInterrupted)
	case err != nil:
		return err
	case c.json:
		return c.writeJSON(got)
	}
	fmt.Fprintln(c.stdout, render.Safe(strings.TrimRight(got.Answers[got.Winner].Text, "\n")))
	return nil
}

func (c *cli) showAnswers(got *view.Compared) {
	for i := range got.Answers {
		b := &got.Answers[i]
		mark, how := " ", "it could not be asked"
		if i == got.Winner {
			mark = "*"
		}
		if b.Reason != "" {
			how = fmt.Sprintf("%s · %s", b.Reason, render.Usage(b.Usage))
		}
		fmt.Fprintf(c.stderr, "%s %s · %s · %s · session %s\n", mark, render.Visible(b.Profile), render.Visible(b.Model), how, b.ID)
	}
	if got.Note != "" {
		fmt.Fprintf(c.stderr, "roster: %s\n", render.Visible(got.Note))
	}
	if len(got.Answers) > 0 && got.Winner >= 0 {
		fmt.Fprintf(c.stderr, "session: %s\n", got.ID)
	}
}

func (h here) Compare(ctx context.Context, want roster.Comparison) (view.Compared, error) {
	got, err := h.App.Compare(ctx, want)
	return got.View(), err
}

func (s server) Compare(ctx context.Context, want roster.Comparison) (view.Compared, error) {
	if want.AllowAll {
		return view.Compared{}, usagef("--dangerously-allow-all is for this machine")
	}
	sent := client.Comparison{
		Message: message.PartsText(want.Parts), Session: want.Key.Stream, Pick: want.Pick, Judge: want.Judge, Mode: want.Flags["permission-mode"],
	}
	for _, one := range want.Candidates {
		sent.Candidates = append(sent.Candidates, client.Candidate{Profile: one.Profile, Model: one.Flags["model"]})
	}
	got, err := s.c.Compare(ctx, sent)
	if refused := (*client.Error)(nil); errors.As(err, &refused) && (refused.Field == "candidates" || refused.Code == "InvalidComparison") {
		err = &roster.ComparisonError{Reason: refused.Message}
	}
	return *got, err
}
