package main

import "github.com/spf13/cobra"

func (c *cli) mcpCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "The Model Context Protocol: serve profiles to its clients",
		Args:  subcommand,
		RunE:  needSubcommand,
	}
	cmd.AddCommand(c.mcpServeCommand())
	return cmd
}
