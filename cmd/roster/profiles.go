package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/session"
)

// listFlags choose what is listed. An empty one chooses everything.
type listFlags struct {
	dialect, mode, tool, model string

	pattern permission.Pattern // of the model
}

func (c *cli) listCommand() *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the profiles of the workspace",
		Long:    "Lists the profiles, sorted by name. What did not load is counted; roster check says why.",
		Example: "  roster list --dialect claude --tool bash\n  roster list --model 'anthropic/*'",
		Args:    exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.list(cmd.Context(), f) },
	}
	cmd.Flags().StringVar(&f.dialect, "dialect", "", "only profiles of this `DIALECT`")
	cmd.Flags().StringVar(&f.mode, "mode", "", "only profiles of this `MODE`: all, primary or subagent")
	cmd.Flags().StringVar(&f.tool, "tool", "", "only profiles that name this `TOOL`, or that name none and get all")
	cmd.Flags().StringVar(&f.model, "model", "", "only profiles whose model fits this `PATTERN`; * stands for any text")
	return cmd
}

// check refuses what no profile can have: it would only give an empty list.
func (f *listFlags) check() error {
	if _, ok := dialect.ByName(f.dialect); f.dialect != "" && !ok {
		var names []string
		for _, d := range dialect.All() {
			names = append(names, d.Name)
		}
		slices.Sort(names)
		return usagef("--dialect %s: the dialects are %s", f.dialect, strings.Join(names, ", "))
	}
	if modes := []string{"all", "primary", "subagent"}; f.mode != "" && !slices.Contains(modes, f.mode) {
		return usagef("--mode %s: the modes are %s", f.mode, strings.Join(modes, ", "))
	}
	var err error
	if f.pattern, err = permission.ParsePattern(f.model); err != nil {
		return usagef("--model: %v", err)
	}
	return nil
}

// knows refuses a tool that is neither built in nor named by a profile.
func (f listFlags) knows(all []view.Item) error {
	if f.tool == "" {
		return nil
	}
	names := dialect.Tools()
	for _, i := range all {
		names = append(names, slices.DeleteFunc(slices.Clone(i.Tools), func(name string) bool { return name == "*" })...)
	}
	if slices.Contains(names, f.tool) {
		return nil
	}
	slices.Sort(names)
	if near := profile.Nearest(f.tool, slices.Compact(names), 1); len(near) > 0 {
		return usagef("--tool %s: no tool has this name: did you mean %s?", f.tool, near[0])
	}
	return usagef("--tool %s: no tool has this name, and no profile names it", f.tool)
}

func (f listFlags) want(i view.Item) bool {
	return (f.dialect == "" || i.Dialect == f.dialect) &&
		(f.mode == "" || i.Mode == f.mode) &&
		(f.tool == "" || slices.Contains(i.Tools, f.tool) || slices.Contains(i.Tools, "*")) &&
		(f.model == "" || f.pattern.Match(i.Model))
}

func (c *cli) list(ctx context.Context, f listFlags) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	at, err := c.reach()
	if err != nil {
		return err
	}
	defer func() { err = c.close(at, err) }()
	all, ds, err := at.Profiles(ctx)
	if err == nil {
		err = f.knows(all)
	}
	if err != nil {
		return err
	}
	items := []view.Item{}
	var rows [][]string
	for _, i := range all {
		if !f.want(i) {
			continue
		}
		items = append(items, i)
		rows = append(rows, []string{i.Name, i.Dialect, i.Mode, orDash(i.Model), i.Source.File, i.Description})
	}
	if c.json {
		return c.writeJSON(items)
	}
	if len(rows) > 0 {
		render.Table(c.stdout, c.style(c.stdout.file), []string{"NAME", "DIALECT", "MODE", "MODEL", "FILE", "DESCRIPTION"}, rows)
	} else if !c.quiet && len(all) > 0 {
		fmt.Fprintf(c.stderr, "roster: none of the %d profiles in %s fits\n", len(all), at.Dir())
	} else if !c.quiet {
		fmt.Fprintf(c.stderr, "roster: no profiles in %s: roster init makes two\n", at.Dir())
	}
	c.saySummary(ds)
	return nil
}

// saySummary counts what is wrong with the files.
func (c *cli) saySummary(ds []profile.Diagnostic) {
	n := map[profile.Severity]int{}
	for _, d := range ds {
		n[d.Severity]++
	}
	if c.quiet || n[profile.SeverityError]+n[profile.SeverityWarning] == 0 {
		return
	}
	fmt.Fprintf(c.stderr, "roster: errors: %d, warnings: %d: see roster check\n", n[profile.SeverityError], n[profile.SeverityWarning])
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func (c *cli) showCommand() *cobra.Command {
	var prompt bool
	var set []string
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show what a profile's file says",
		Long: `Shows what a profile's file says. With --prompt it shows what a run would send
ahead of the conversation: the system prompt, layer by layer, where each is
from, and the tools. Tokens are estimated from the length of the text.`,
		Example: "  roster show reviewer\n  roster show --prompt reviewer",
		Args:    exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if prompt {
				return c.showPrompt(cmd, args[0], set)
			}
			if len(set) > 0 {
				return usagef("--set goes with --prompt: without it, show shows the file")
			}
			return c.showProfile(cmd.Context(), args[0])
		},
		ValidArgsFunction: c.completeProfiles,
	}
	cmd.Flags().BoolVar(&prompt, "prompt", false, "show the prompt that a run would send")
	cmd.Flags().StringArrayVar(&set, "set", nil, "with --prompt: override a profile key: `KEY=VALUE`; may be repeated")
	return cmd
}

func (c *cli) showPrompt(cmd *cobra.Command, name string, set []string) error {
	keys, err := (&runFlags{set: set}).overrides()
	if err != nil {
		return err
	}
	at, err := c.reach()
	if err != nil {
		return err
	}
	p, err := at.Prompt(cmd.Context(), name, session.Overrides{Flags: keys})
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(p)
	}
	c.warn(p.Diagnostics)
	render.Prompt(c.stdout, c.style(c.stdout.file), p)
	return nil
}

func (c *cli) showProfile(ctx context.Context, name string) error {
	at, err := c.reach()
	if err != nil {
		return err
	}
	v, err := at.Profile(ctx, name)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(v)
	}
	render.Profile(c.stdout, c.style(c.stdout.file), v)
	c.warn(v.Diagnostics)
	return nil
}

func (c *cli) explainCommand() *cobra.Command {
	var set []string
	var diff bool
	cmd := &cobra.Command{
		Use:   "explain NAME | --diff NAME NAME",
		Short: "Show what a profile resolves to, and where each value was written",
		Long: `Shows each field of the resolved profile: its value, the file, line and layer
that set it, and what that overrode. Layers, from the weakest: builtin, user,
defaults, extends, profile, session, override, flag. Host marks what the policy
caps.
With --diff it shows the fields in which two profiles differ, both values with
where they were written. NAME@REVISION is a version of a profile that roster
profile history lists.`,
		Example: "  roster explain reviewer\n  roster explain reviewer --set temperature=0.9\n  roster explain --diff reviewer reviewer@1f0c",
		Args: func(cmd *cobra.Command, args []string) error {
			if diff {
				return exactly("NAME", "NAME")(cmd, args)
			}
			return exactly("NAME")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if diff {
				return c.explainDiff(cmd, args[0], args[1], set)
			}
			return c.explain(cmd, args[0], set)
		},
		ValidArgsFunction: c.completeProfiles,
	}
	cmd.Flags().StringArrayVar(&set, "set", nil, "override a profile key: `KEY=VALUE`; may be repeated")
	cmd.Flags().BoolVar(&diff, "diff", false, "show in which fields two profiles, or versions of them, differ")
	return cmd
}

func (c *cli) explain(cmd *cobra.Command, name string, set []string) error {
	at, over, err := c.openWith(set)
	if err != nil {
		return err
	}
	e, err := c.explained(cmd, at, name, over)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(e)
	}
	return e.WriteText(c.stdout)
}

func (c *cli) explainDiff(cmd *cobra.Command, a, b string, set []string) error {
	at, over, err := c.openWith(set)
	if err != nil {
		return err
	}
	ea, err := c.explained(cmd, at, a, over)
	if err != nil {
		return err
	}
	eb, err := c.explained(cmd, at, b, over)
	if err != nil {
		return err
	}
	d := resolve.Differences(a, b, ea, eb)
	if c.json {
		return c.writeJSON(d)
	}
	if len(d.Fields) == 0 && !c.quiet {
		fmt.Fprintf(c.stderr, "roster: %s and %s resolve to the same\n", a, b)
	}
	return d.WriteText(c.stdout)
}

func (c *cli) openWith(set []string) (place, session.Overrides, error) {
	keys, err := (&runFlags{set: set}).overrides()
	if err != nil {
		return nil, session.Overrides{}, err
	}
	at, err := c.reach()
	return at, session.Overrides{Flags: keys}, err
}

// explained resolves NAME or NAME@REVISION.
func (c *cli) explained(cmd *cobra.Command, at place, name string, over session.Overrides) (resolve.Explanation, error) {
	e, ds, err := at.Explain(cmd.Context(), name, over)
	if err == nil {
		c.warn(ds)
	}
	return e, err
}

// completeProfiles offers the names of profiles for the first argument.
func (c *cli) completeProfiles(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	c.quiet = true
	app, err := c.open(roster.Options{})
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for p := range app.Catalog().List() {
		if strings.HasPrefix(p.Name, typed) {
			names = append(names, p.Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
