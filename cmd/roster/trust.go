package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/trust"
)

type trustFlags struct{ list, revoke, yes bool }

func (c *cli) trustCommand() *cobra.Command {
	var f trustFlags
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Say what the workspace's files would do, and trust them",
		Long: `Lists everything that the files of the workspace would start, reach or read, and
the rules by which they would allow tool calls; then asks whether to trust them.
Until then nothing of it has an effect: what would start something is passed over,
and an allow counts as ask.

What is trusted is kept in your own folder, by the workspace's real path, and each
item is pinned as it is now: one that is new, or of which a byte has changed, has
no effect until roster trust has shown it.

Where nobody can be asked, --yes trusts what is listed. With --json it is only
listed, unless --yes is given too.`,
		Example: "  roster trust --list\n  roster trust --yes",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.list && f.revoke || (f.list || f.revoke) && f.yes {
				return usagef("--list, --revoke and --yes exclude each other")
			}
			return c.trustWorkspace(cmd.Context(), f)
		},
	}
	cmd.Flags().BoolVar(&f.list, "list", false, "list, and change nothing")
	cmd.Flags().BoolVar(&f.revoke, "revoke", false, "take the trust back; servers that run see it at once")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "trust without a question")
	return cmd
}

func (c *cli) trustWorkspace(ctx context.Context, f trustFlags) error {
	app, err := c.openAsTrusted()
	if err != nil {
		return err
	}
	if f.revoke {
		return c.revoke(ctx, app)
	}
	survey := app.Survey()
	l := listing{app.Dir(), app.Trust(), survey}
	list := f.list || c.json && !f.yes
	if !c.json {
		l.write(c.stdout)
	}
	pending := l.view.Inert(survey)
	if list || l.view.Workspace() && pending.Empty() {
		return c.writeListing(l)
	}
	if !f.yes {
		if !terminal(c.stdin) || !terminal(c.stderr) {
			return fmt.Errorf("%w: nobody can be asked here: look at the list, and say roster trust --yes", profile.ExecutingKey)
		}
		if yes, err := c.confirm("Trust this workspace?"); err != nil || !yes {
			fmt.Fprintln(c.stderr, "roster: nothing was trusted")
			return exit(exitDenied)
		}
	}
	if err := app.TrustWorkspace(ctx, survey.Items); err != nil {
		return err
	}
	l.view = app.Trust()
	if !c.quiet {
		fmt.Fprintf(c.stderr, "roster: %s is trusted\n", app.Dir())
	}
	return c.writeListing(l)
}

// openAsTrusted opens the workspace by what is kept of it, whatever this command
// was told to trust.
func (c *cli) openAsTrusted() (*roster.App, error) {
	app, ds, err := c.openWorkspace(roster.Options{State: c.state, Profiles: c.profiles, Getenv: c.withoutTrust})
	if err != nil {
		return nil, err
	}
	c.warn(withoutExecuting(ds))
	return app, nil
}

// withoutTrust is the environment for what asks what is kept.
func (c *cli) withoutTrust(name string) string {
	if name == "ROSTER_TRUST" {
		return ""
	}
	return c.getenv(name)
}

func (c *cli) revoke(ctx context.Context, app *roster.App) error {
	was, err := app.RevokeTrust(ctx)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(map[string]any{"workspace": app.Dir(), "trusted": false, "was": was})
	}
	if !c.quiet && was {
		fmt.Fprintf(c.stderr, "roster: %s is not trusted any more\n", app.Dir())
	} else if !c.quiet {
		fmt.Fprintf(c.stderr, "roster: %s was not trusted\n", app.Dir())
	}
	return nil
}

// listing is a survey with what of it has an effect.
type listing struct {
	dir    string
	view   trust.View
	survey trust.Survey
}

type itemJSON struct {
	trust.Item
	State trust.State `json:"state"`
	Was   []string    `json:"was,omitempty"` // when it was trusted
}

type allowJSON struct {
	permission.Rule
	Counts permission.Effect `json:"counts"`
}

func (c *cli) writeListing(l listing) error {
	if !c.json {
		return nil
	}
	out := struct {
		Workspace string      `json:"workspace"`
		Trusted   bool        `json:"trusted"`
		Items     []itemJSON  `json:"items"`
		Allows    []allowJSON `json:"allows"`
		Gone      []trust.Pin `json:"gone"`
	}{l.dir, l.view.Workspace(), []itemJSON{}, []allowJSON{}, append([]trust.Pin{}, l.view.Gone(l.survey)...)}
	for _, i := range l.survey.Items {
		out.Items = append(out.Items, itemJSON{i, l.view.State(i), l.was(i)})
	}
	for _, r := range l.survey.Allows {
		counts := permission.Ask
		if l.view.Rules(r.At.File) {
			counts = permission.Allow
		}
		out.Allows = append(out.Allows, allowJSON{r, counts})
	}
	return c.writeJSON(out)
}

func (l listing) was(i trust.Item) []string {
	if l.view.State(i) != trust.Changed {
		return nil
	}
	return l.view.Was(i)
}

// write lists the items, each in a line with its place, and the rules.
func (l listing) write(w io.Writer) {
	state := "not trusted"
	if l.view.Workspace() {
		state = "trusted"
	}
	fmt.Fprintf(w, "%s (%s)\n", trust.Show(l.dir), state)
	for _, i := range l.survey.Items {
		who := ""
		if i.Profile != "" {
			who = " of " + i.Profile
		}
		fmt.Fprintf(w, "%-9s %s: %s%s: %s\n", l.view.State(i), trust.Show(i.At.String()), trust.Show(i.Key), trust.Show(who), i.Text)
		for _, was := range l.was(i) {
			fmt.Fprintf(w, "          was: %s\n", was)
		}
	}
	for _, p := range l.view.Gone(l.survey) {
		fmt.Fprintf(w, "%-9s %s: %s: %s\n", "gone", trust.Show(p.File), trust.Show(p.Key), trust.Show(p.Text))
	}
	for _, r := range l.survey.Allows {
		counts := "counts as ask"
		if l.view.Rules(r.At.File) {
			counts = "allow"
		}
		fmt.Fprintf(w, "%-9s %s: %s %s\n", counts, trust.Show(r.At.String()), trust.Show(r.Tool), trust.Show(r.Subject))
	}
	if l.survey.Empty() {
		fmt.Fprintln(w, "nothing in it would start, reach or read anything, and no rule allows more than the built-in ones")
	}
}

// confirm asks a question on the terminal. Anything but a yes is a no.
func (c *cli) confirm(question string) (bool, error) {
	fmt.Fprintf(c.stderr, "%s [y/N] ", question)
	const most = 256
	line, err := bufio.NewReader(io.LimitReader(c.stdin, most)).ReadString('\n')
	if err != nil {
		fmt.Fprintln(c.stderr)
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}

// canAsk says whether a run can begin with a question: a person is there, and
// neither the prompt nor the answer is a program's.
func (c *cli) canAsk(prompt []string) bool {
	return terminal(c.stdin) && terminal(c.stderr) && !c.json && !slices.Contains(prompt, "-")
}

// askTrust asks, before a run that would use something that has no effect,
// whether to trust the workspace; once for what is there. Where nobody can be
// asked it says so.
func (c *cli) askTrust(ctx context.Context, app *roster.App, ask roster.Ask, canAsk bool) error {
	return c.askTrustFor(ctx, app, ask, canAsk, false)
}

// askTrustFor does so also where something else than the profile wants it, such as the
// command that is called.
func (c *cli) askTrustFor(ctx context.Context, app *roster.App, ask roster.Ask, canAsk, wants bool) error {
	var ds []profile.Diagnostic
	if ask.Profile != "" {
		var too bool
		too, ds = app.Wants(ctx, ask.Profile, session.Overrides{Set: ask.Set, Flags: ask.Flags})
		wants = wants || too
	}
	if !wants {
		return nil
	}
	survey := app.Survey()
	if !canAsk || app.Trust().Declined(survey) {
		c.warn(ds)
		return nil
	}
	listing{app.Dir(), app.Trust(), survey}.write(c.stderr)
	yes, err := c.confirm("The run would use some of this. Trust this workspace?")
	if err != nil || !yes {
		fmt.Fprintln(c.stderr, "roster: not trusted; you are asked again when something has changed, and roster trust asks at any time")
		if err := app.DeclineTrust(ctx, survey); err != nil {
			fmt.Fprintf(c.stderr, "roster: %v\n", err)
		}
		return nil
	}
	return app.TrustWorkspace(ctx, survey.Items)
}

func withoutExecuting(ds []profile.Diagnostic) []profile.Diagnostic {
	var out []profile.Diagnostic
	for _, d := range ds {
		if d.Name != string(profile.ExecutingKey) {
			out = append(out, d)
		}
	}
	return out
}
