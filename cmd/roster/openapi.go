package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/tool/openapi"
)

func (c *cli) openapiCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "openapi",
		Short: "Services that an OpenAPI document describes",
		Args:  subcommand,
		RunE:  needSubcommand,
	}
	cmd.AddCommand(c.openapiListCommand(), c.openapiShowCommand(), c.openapiCallCommand())
	return cmd
}

func (c *cli) openapiListCommand() *cobra.Command {
	var f openapi.Filter
	cmd := &cobra.Command{
		Use:   "list FILE",
		Short: "List the operations that an OpenAPI document describes",
		Long: `Lists the operations that an OpenAPI document describes, each by the name that an
agent would know it by. The document is a file in JSON or YAML, of OpenAPI 3.0, 3.1
and 3.2 or Swagger 2.0; what it says of other files in its folder is read, and
nothing is fetched. What of it cannot be used is said on standard error.

The flags choose among the operations as the keys of the same names do where a
service is configured: an operation must fit each that is given, by any of its values.`,
		Example: "  roster openapi list petstore.yaml\n  roster openapi list github.json --tag issues --method GET --json",
		Args:    exactly("FILE"),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.listOperations(cmd.Context(), args[0], f) },

		ValidArgsFunction: completeFiles,
	}
	cmd.Flags().StringArrayVar(&f.Operations, "operation", nil, "only this `OPERATION`, by its name or operationId, in which * stands for any text; may be repeated")
	cmd.Flags().StringArrayVar(&f.Tags, "tag", nil, "only those with this `TAG`; may be repeated")
	cmd.Flags().StringArrayVar(&f.Paths, "path", nil, "only those at or below this `PATH`; may be repeated")
	cmd.Flags().StringArrayVar(&f.Methods, "method", nil, "only those of this `METHOD`; may be repeated")
	return cmd
}

func (c *cli) openapiShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show FILE OPERATION",
		Short: "Show what one operation takes",
		Long: `Shows one operation of an OpenAPI document, and the JSON Schema of the input that an
agent gives it: its parameters and its body as one object. Where two of them have the
same name, that of the path keeps it, then that of the query, a header, a cookie and
the body; the others get their place in front of it, as in query_id.`,
		Example: "  roster openapi show petstore.yaml getPetById",
		Args:    exactly("FILE", "OPERATION"),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.showOperation(cmd.Context(), args[0], args[1]) },

		ValidArgsFunction: completeFiles,
	}
}

// completeFiles leaves the first argument to the shell, which knows files.
func completeFiles(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// openDocument reads the OpenAPI document in a file, and says what of it cannot be
// used.
func (c *cli) openDocument(ctx context.Context, path string, f openapi.Filter) (*openapi.Document, error) {
	if strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://") {
		return nil, usagef("nothing is fetched to look at it: save %s to a file, and name that", path)
	}
	d, err := openapi.Open(ctx, path, openapi.Options{Filter: f})
	if refused := (*openapi.Problem)(nil); errors.As(err, &refused) {
		found := diagnosed(refused, profile.CodeDocument)
		return nil, &found
	}
	return d, err
}

// diagnosed makes a diagnostic of a problem of a document.
func diagnosed(p *openapi.Problem, code string) profile.Diagnostic {
	return profile.Diagnose(code, p.At, p.Operation, p.Message(), "")
}

func allDiagnosed(problems []openapi.Problem) []profile.Diagnostic {
	list := []profile.Diagnostic{}
	for i := range problems {
		list = append(list, diagnosed(&problems[i], profile.CodeDocumentPart))
	}
	return profile.Capped(list)
}

// findOperation gives the operation of a name, or names the nearest.
func findOperation(d *openapi.Document, name string) (*openapi.Operation, error) {
	if op := d.Find(name); op != nil {
		return op, nil
	}
	var ids []string
	for _, op := range d.Operations {
		ids = append(ids, op.ID)
	}
	hint := "see roster openapi list " + d.Name
	if near := profile.Nearest(name, ids, 3); len(near) > 0 {
		hint = "nearest: " + strings.Join(near, ", ")
	}
	return nil, fmt.Errorf("%s has no operation %q (%s)", d.Name, name, hint)
}

// documentJSON is a document as openapi list gives it.
type documentJSON struct {
	Title      string           `json:"title"`
	Version    string           `json:"version"`
	Format     string           `json:"format"`
	Servers    []string         `json:"servers"`
	Total      int              `json:"total"` // without the flags that choose
	Operations []openapi.Listed `json:"operations"`
	// Diagnostics say what of the document cannot be used.
	Diagnostics []profile.Diagnostic `json:"diagnostics"`
}

func (c *cli) listOperations(ctx context.Context, path string, f openapi.Filter) error {
	d, err := c.openDocument(ctx, path, f)
	if err != nil {
		return err
	}
	found := allDiagnosed(d.Problems)
	if c.json {
		out := documentJSON{
			Title: d.Title, Version: d.Version, Format: d.Format, Total: d.Total,
			Servers: []string{}, Operations: []openapi.Listed{}, Diagnostics: found,
		}
		for _, s := range d.Servers {
			out.Servers = append(out.Servers, s.URL)
		}
		for _, op := range d.Operations {
			out.Operations = append(out.Operations, op.Listed())
		}
		return c.writeJSON(out)
	}
	c.warn(found)
	var rows [][]string
	for _, op := range d.Operations {
		rows = append(rows, []string{op.ID, op.Method, op.Path, operationText(op)})
	}
	render.Table(c.stdout, c.style(c.stdout.file), []string{"OPERATION", "METHOD", "PATH", "SUMMARY"}, rows)
	if !c.quiet {
		fmt.Fprintf(c.stderr, "roster: %d of %d operations\n", len(d.Operations), d.Total)
	}
	return nil
}

// operationText is what an operation is, in a line.
func operationText(op *openapi.Operation) string {
	text := op.Summary
	if text == "" {
		text, _, _ = strings.Cut(op.Description, "\n")
	}
	if op.Deprecated {
		text = "(deprecated) " + text
	}
	return text
}

func (c *cli) showOperation(ctx context.Context, path, name string) error {
	d, err := c.openDocument(ctx, path, openapi.Filter{})
	if err != nil {
		return err
	}
	op, err := findOperation(d, name)
	if err != nil {
		return err
	}
	schema, problems := op.Schema()
	if schema == nil {
		return &problems[0]
	}
	c.warn(allDiagnosed(problems))
	if c.json {
		out := op.Listed()
		out.Schema = schema
		return c.writeJSON(out)
	}
	fmt.Fprintf(c.stdout, "%s  %s %s\n", render.Safe(op.ID), op.Method, render.Safe(op.Path))
	for _, text := range []string{op.Summary, op.Description} {
		if text != "" {
			fmt.Fprintf(c.stdout, "%s\n", render.Safe(text))
		}
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, schema, "", "  "); err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "\n%s\n", render.Safe(pretty.String()))
	return nil
}
