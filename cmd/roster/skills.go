package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
)

func (c *cli) skillsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "skills",
		Short: "List, show and check skills: folders that say how to do a kind of task",
		Args:  subcommand,
		RunE:  needSubcommand,
	}
	cmd.AddCommand(c.skillsListCommand(), c.skillsShowCommand(), c.skillsCheckCommand())
	return cmd
}

func (c *cli) skillsListCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the skills, or those that a profile may use",
		Long: `Lists the skills of the workspace, of your own folders and of this program. With
--profile it lists those that the model of the profile's runs is told of.`,
		Example: "  roster skills list\n  roster skills list --profile reviewer --json",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := c.reach()
			if err != nil {
				return err
			}
			list, ds, err := at.SkillList(cmd.Context(), name)
			if err != nil {
				return err
			}
			c.warn(ds)
			if c.json {
				return c.writeJSON(list)
			}
			rows := make([][]string, len(list))
			for i, s := range list {
				rows[i] = []string{s.Name, s.Source, s.File, s.Description}
			}
			render.Table(c.stdout, c.style(c.stdout.file), []string{"SKILL", "SOURCE", "FILE", "DESCRIPTION"}, rows)
			return nil
		},
	}
	cmd.Flags().StringVar(&name, "profile", "", "the profile's `NAME`")
	if err := cmd.RegisterFlagCompletionFunc("profile", c.completeProfiles); err != nil {
		panic(err) // the flag is there
	}
	return cmd
}

func (c *cli) skillsShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "show NAME",
		Short:   "Show a skill: what it says, its files, and what it need not be asked for",
		Example: "  roster skills show roster-profiles",
		Args:    exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := c.reach()
			if err != nil {
				return err
			}
			s, err := at.SkillNamed(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			c.warn(s.Diagnostics)
			if c.json {
				return c.writeJSON(s)
			}
			render.Skill(c.stdout, c.style(c.stdout.file), &s)
			return nil
		},
		ValidArgsFunction: c.completeSkills,
	}
}

func (c *cli) skillsCheckCommand() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check [PATH…]",
		Short: "Say what is wrong with skills, and where",
		Long: `Reads every skill of the workspace and of your own folders, or those below the given
paths, and reports all problems at once, each with its line.

Exit codes: 0 clean or warnings, 1 errors (with --strict also warnings), 2 usage.`,
		Example: "  roster skills check\n  roster skills check skills/release-notes --strict",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := c.checkFormat(&f); err != nil {
				return err
			}
			app, err := c.open(roster.Options{})
			if err != nil {
				return err
			}
			report, err := app.CheckSkills(args...)
			if errors.Is(err, fs.ErrNotExist) || err != nil && len(args) > 0 {
				return usagef("%v", err)
			}
			if err != nil {
				return err
			}
			root := ""
			if len(args) == 0 {
				root = app.Dir()
			}
			if err := c.writeReport(report, root, f.format); err != nil {
				return err
			}
			if hasErrors(report) || f.strict && report.Summary.Warnings > 0 {
				return exit(exitFailed)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&f.format, "format", "text", "the output `FORMAT`: "+strings.Join(formats(), ", "))
	cmd.Flags().BoolVar(&f.strict, "strict", false, "fail on warnings too")
	return cmd
}

// checkFormat settles in what format a report is written.
func (c *cli) checkFormat(f *checkFlags) error {
	if !slices.Contains(formats(), f.format) {
		return usagef("--format %s: the formats are %s", f.format, strings.Join(formats(), ", "))
	}
	if c.json && f.format != "text" && f.format != "json" {
		return usagef("--json and --format %s: take one of the two", f.format)
	}
	if c.json {
		f.format = "json"
	}
	c.json = f.format == "json"
	return nil
}

func (c *cli) completeSkills(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c.quiet = true
	app, err := c.open(roster.Options{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list, _, err := app.SkillList(cmd.Context(), "")
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completions(list, start), cobra.ShellCompDirectiveNoFileComp
}

func completions(list []view.Skill, start string) (out []string) {
	for _, s := range list {
		if strings.HasPrefix(s.Name, start) {
			out = append(out, fmt.Sprintf("%s\t%s", s.Name, s.Description))
		}
	}
	return out
}
