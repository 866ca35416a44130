package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
)

func (c *cli) doctorCommand() *cobra.Command {
	var config bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what a run would find here: configuration, trust, profiles, models, keys, store",
		Long: `Looks at what a run would need and says how it stands. It runs no command,
opens no connection and prints no key; roster models test asks a model. The exit
code is 1 if something is wrong.`,
		Example: "  roster doctor\n  roster doctor --config",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if config {
				return c.doctorConfig()
			}
			return c.doctor(cmd)
		},
	}
	cmd.Flags().BoolVar(&config, "config", false, "show the configuration that results, and where each value is written")
	return cmd
}

func (c *cli) doctor(cmd *cobra.Command) (err error) {
	app, err := c.open(roster.Options{})
	if err != nil {
		return err
	}
	defer func() { err = c.close(app, err) }()
	found := app.Doctor(cmd.Context())
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
