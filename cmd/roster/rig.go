package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/rig/graph"
)

func (c *cli) rigCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rig",
		Short: "Make, check, run and look after rigs: files that start work by themselves",
		Args:  subcommand,
		RunE:  needSubcommand,
	}
	cmd.AddCommand(c.rigInitCommand(), c.rigCheckCommand(), c.rigListCommand(), c.rigGraphCommand())
	cmd.AddCommand(c.rigJobCommands()...)
	return cmd
}

func (c *cli) rigCheckCommand() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check [PATH…]",
		Short: "Say what is wrong with knots, and where",
		Long: `Reads every knot of the workspace's rigs, or those below the given paths, and reports
all problems at once, each with its line. It starts nothing and changes nothing.

Exit codes: 0 clean or warnings, 1 errors (with --strict also warnings), 2 usage.`,
		Example: "  roster rig check\n  roster rig check rig/review-loom --format github",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.checkFormat(&f); err != nil {
				return err
			}
			if c.server != "" && len(args) > 0 {
				return usagef("paths are those of this machine: a server checks all of its rigs")
			}
			return c.withPlace(func(at place) error {
				report, err := rigReport(cmd.Context(), at, args)
				if err != nil {
					return err
				}
				return c.showReport(report, at.Dir(), f)
			})
		},
	}
	cmd.Flags().StringVar(&f.format, "format", "text", "the output `FORMAT`: "+strings.Join(formats(), ", "))
	cmd.Flags().BoolVar(&f.strict, "strict", false, "fail on warnings too")
	return cmd
}

// rigReport reports on the files of all rigs or, with paths, on those at or below them.
func rigReport(ctx context.Context, at place, paths []string) (*catalog.Report, error) {
	names, err := at.RigNames(ctx)
	if err != nil {
		return nil, err
	}
	asked, err := below(at.Dir(), names, paths)
	if err != nil {
		return nil, err
	}
	report := &catalog.Report{Files: []catalog.FileReport{}}
	for _, name := range names {
		found, err := at.CheckRig(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, f := range found.Files {
			if asked(f.Path) {
				addFile(report, f)
			}
		}
	}
	return report, nil
}

// below says which files are at or below the paths; without any, all are. A path that is
// in no rig is a usage error.
func below(workspace string, rigs, paths []string) (func(file string) bool, error) {
	var asked []string
	for _, p := range paths {
		in, err := within(workspace, p)
		if err != nil {
			return nil, err
		}
		first, _, _ := strings.Cut(in, "/")
		if !slices.Contains(rigs, first) {
			return nil, usagef("%s is in no rig of the workspace %s", p, workspace)
		}
		asked = append(asked, in)
	}
	return func(file string) bool {
		return len(asked) == 0 || slices.ContainsFunc(asked, func(in string) bool { return file == in || strings.HasPrefix(file, in+"/") })
	}, nil
}

// within gives a path of the command line as it is in the workspace, with slashes.
func within(workspace, path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(abs); err != nil {
		return "", usagef("%v", err)
	}
	in, err := filepath.Rel(workspace, abs)
	if err != nil {
		return "", usagef("%v", err)
	}
	return filepath.ToSlash(in), nil
}

// knotJSON is a knot as rig list --json writes it.
type knotJSON struct {
	Rig      string   `json:"rig"`
	Loom     string   `json:"loom"`
	Name     string   `json:"name"`
	File     string   `json:"file"`
	Profile  string   `json:"profile"` // empty: it has an agent in place
	Input    string   `json:"input"`
	On       []string `json:"on"`
	Schedule string   `json:"schedule"`
	Status   string   `json:"status"`   // ok, refused, or no profile
	Problems int      `json:"problems"` // errors and warnings
}

func (c *cli) rigListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the knots of the workspace's rigs",
		Long: `Lists the knots of the workspace's rigs: the profile that does the work, the folder or
event that they wait for, which changes count, and whether their files can be used.`,
		Example: "  roster rig list --json",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withPlace(func(at place) error {
				knots, err := listKnots(cmd.Context(), at)
				if err != nil {
					return err
				}
				if c.json {
					return c.writeJSON(knots)
				}
				rows := make([][]string, len(knots))
				for i, k := range knots {
					rows[i] = k.row()
				}
				render.Table(c.stdout, c.style(c.stdout.file), []string{"KNOT", "PROFILE", "INPUT", "ON", "STATUS", "FILE"}, rows)
				return nil
			})
		},
	}
}

func (k *knotJSON) row() []string {
	input := k.Input
	if k.Schedule != "" {
		input = strings.TrimPrefix(input+", ", ", ") + k.Schedule
	}
	status := k.Status
	if k.Problems > 0 {
		status += fmt.Sprintf(" (problems: %d)", k.Problems)
	}
	return []string{k.Loom + "/" + k.Name, cmp.Or(k.Profile, "-"), cmp.Or(input, "-"), cmp.Or(strings.Join(k.On, ","), "-"), status, k.File}
}

func listKnots(ctx context.Context, at place) ([]knotJSON, error) {
	names, err := at.RigNames(ctx)
	if err != nil {
		return nil, err
	}
	out := []knotJSON{}
	for _, name := range names {
		r, err := at.RigFiles(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, k := range r.Knots {
			if k.File == "" {
				continue // it is gone
			}
			loom, knot, _ := strings.Cut(k.ID, "/")
			out = append(out, knotJSON{Rig: name, Loom: loom, Name: knot, File: k.File, Profile: k.Profile, Input: k.Input, On: k.On, Schedule: k.Schedule, Status: k.Status, Problems: k.Problems})
		}
	}
	return out, nil
}

func (c *cli) rigGraphCommand() *cobra.Command {
	var format, out string
	formats := []string{"text", "mermaid", "svg"}
	cmd := &cobra.Command{
		Use:   "graph",
		Short: "Draw what starts which knot, and where it writes",
		Long: `Draws the workspace's rigs: folders, schedules and events, the knots that they start, and
the tie-offs of those. Knots that start each other in a circle are marked: how often they
go around is bounded when they run.`,
		Example: "  roster rig graph\n  roster rig graph --format svg -o rig.svg",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(formats, format) {
				return usagef("--format %s: the formats are %s", format, strings.Join(formats, ", "))
			}
			if c.json && (cmd.Flags().Changed("format") || out != "") {
				return usagef("--json goes without --format and --output")
			}
			return c.withPlace(func(at place) error {
				g, err := wholeGraph(cmd.Context(), at)
				if err != nil {
					return err
				}
				if c.json {
					return c.writeJSON(g)
				}
				return c.writeGraph(g, format, out)
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "the output `FORMAT`: "+strings.Join(formats, ", "))
	cmd.Flags().StringVarP(&out, "output", "o", "", "write into `FILE`, over what is there")
	return cmd
}

// wholeGraph draws all rigs in one.
func wholeGraph(ctx context.Context, at place) (*graph.Graph, error) {
	names, err := at.RigNames(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]*graph.Graph, len(names))
	for i, name := range names {
		if all[i], err = at.RigGraph(ctx, name); err != nil {
			return nil, err
		}
	}
	return graph.Join(all...), nil
}

func (c *cli) writeGraph(g *graph.Graph, format, file string) error {
	write := map[string]func(io.Writer) error{"text": g.Text, "mermaid": g.Mermaid, "svg": g.SVG}[format]
	if file == "" {
		return write(c.stdout)
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
