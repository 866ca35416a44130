package main

import "github.com/spf13/cobra"

func (c *cli) mcpCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "The Model Context Protocol: servers that agents use, and profiles served to its clients",
		Args:  subcommand,
		RunE:  needSubcommand,
	}
	cmd.AddCommand(c.mcpListCommand(), c.mcpToolsCommand(), c.mcpCallCommand(), c.mcpAddCommand(), c.mcpRmCommand(), c.mcpServeCommand())
	return cmd
}
