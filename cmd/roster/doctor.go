package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
)

func (c *cli) doctorCommand() *cobra.Command {
	var config, reach bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what a run would find here: configuration, trust, profiles, models, keys, store",
		Long: `Looks at what a run would need and says how it stands. It runs no command,
opens no connection and prints no key. The exit code is 1 if something is wrong.

With --reach it also connects to the model servers whose keys are there, to MCP
servers at an address and to the search service, and says which of them answer. It
sends them no key; roster models test asks a model.`,
		Example: "  roster doctor\n  roster doctor --reach\n  roster doctor --config",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if config {
				if c.server != "" {
					return usagef("--config is about this machine")
				}
				return c.doctorConfig()
			}
			if reach && c.server != "" {
				return usagef("--reach is about this machine")
			}
			return c.doctor(cmd, reach)
		},
	}
	cmd.Flags().BoolVar(&reach, "reach", false, "also connect to the servers that runs would, and say which answer")
	cmd.Flags().BoolVar(&config, "config", false, "show the configuration that results, and where each value is written")
	return cmd
}

func (c *cli) doctor(cmd *cobra.Command, reach bool) (err error) {
	at, err := c.reach()
	if err != nil {
		return err
	}
	defer func() { err = c.close(at, err) }()
	found, err := at.Findings(cmd.Context())
	if err != nil {
		return err
	}
	if own, ok := at.(here); ok && reach {
		found = append(found, own.Reach(cmd.Context())...)
	}
	failed := false
	for _, f := range found {
		failed = failed || f.Status == "error"
	}
	if c.json {
		err = c.writeJSON(found)
	} else {
		for _, f := range found {
			detail := f.Detail
			if f.Hint != "" {
				detail += " (" + f.Hint + ")"
			}
			fmt.Fprintf(c.stdout, "%-8s %-10s %-14s %s\n", f.Status, f.Area, f.Name, render.Safe(detail))
		}
	}
	if err == nil && failed {
		return exit(exitFailed)
	}
	return err
}

func (c *cli) doctorConfig() error {
	app, err := c.open(roster.Options{})
	if err != nil {
		return err
	}
	settings := app.Config().Settings()
	if c.json {
		return c.writeJSON(settings)
	}
	rows := make([][]string, len(settings))
	for i, s := range settings {
		from := s.Origin.String()
		if s.Origin.File == "" {
			from = string(s.Origin.Layer)
		}
		rows[i] = []string{s.Key, fmt.Sprint(s.Value), from}
	}
	render.Table(c.stdout, c.style(c.stdout.file), []string{"KEY", "VALUE", "FROM"}, rows)
	return nil
}
