package main

import (
	"github.com/spf13/cobra"

	"github.com/rosterrun/roster/profile/schema"
)

func (c *cli) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Write the JSON Schema of a native profile's frontmatter",
		Long: `Writes the JSON Schema (draft 2020-12) of the frontmatter of native profiles, for
editors that complete and check keys as one types.`,
		Example: "  roster schema > .vscode/roster.schema.json",
		Args:    exactly(),
		RunE: func(*cobra.Command, []string) error {
			_, err := c.stdout.Write(schema.JSON())
			return err
		},
	}
}
