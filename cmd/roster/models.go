package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
	modelcatalog "github.com/rosterrun/roster/model/catalog"
)

func (c *cli) modelsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "models",
		Short: "Models: what there is, what it holds and costs",
		Args:  subcommand,
		RunE:  needSubcommand,
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "list",
		Short: "List the models that the catalog knows",
		Long: `Lists the models of the built-in catalog and of roster.yaml. A model is ready if
its provider needs no key or the key is in the environment. Prices are in US
dollars per million tokens. Nothing is asked of the network.`,
		Args: exactly(),
		RunE: func(*cobra.Command, []string) error { return c.listModels() },
	})
	return cmd
}

func (c *cli) listModels() error {
	app, err := c.open(roster.Options{})
	if err != nil {
		return err
	}
	models := app.Models().List()
	if c.json {
		if models == nil {
			models = []modelcatalog.Info{}
		}
		return c.writeJSON(models)
	}
	var rows [][]string
	for _, m := range models {
		ready := "yes"
		if !m.Configured {
			ready = "no key"
		}
		rows = append(rows, []string{
			m.Provider + "/" + m.ID, fmt.Sprint(m.ContextWindow), fmt.Sprint(m.MaxOutput),
			fmt.Sprint(m.InputPrice), fmt.Sprint(m.OutputPrice), ready, m.Note,
		})
	}
	render.Table(c.stdout, c.style(c.stdout.file), []string{"MODEL", "WINDOW", "OUTPUT", "$ IN", "$ OUT", "READY", "NOTE"}, rows)
	return nil
}
