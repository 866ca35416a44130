package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
	modelcatalog "github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
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
	cmd.AddCommand(&cobra.Command{
		Use:     "show MODEL",
		Short:   "Show what a reference stands for: the model, its figures, how it is reached",
		Example: "  roster models show sonnet\n  roster models show ollama/qwen3",
		Args:    exactly("MODEL"),
		RunE:    func(_ *cobra.Command, args []string) error { return c.showModel(args[0]) },
	}, &cobra.Command{
		Use:   "test MODEL",
		Short: "Ask a model for one word",
		Long: `Asks a model for one word, and says how long it took and what it used. It reads
the key and connects, as a run does.`,
		Example: "  roster models test builtin/demo",
		Args:    exactly("MODEL"),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.testModel(cmd, args[0]) },
	})
	return cmd
}

// modelJSON is a model as models show gives it.
type modelJSON struct {
	Provider      string                   `json:"provider"`
	ID            string                   `json:"id"`
	API           string                   `json:"api"`
	BaseURL       string                   `json:"base_url"`
	KeyEnv        string                   `json:"key_env,omitempty"`
	KeyCommand    bool                     `json:"key_command,omitempty"`
	ContextWindow int                      `json:"context_window"`
	MaxOutput     int                      `json:"max_output"`
	Price         spec.Price               `json:"price"`
	Origins       map[string]source.Origin `json:"origins"`
	Note          string                   `json:"note,omitempty"`
}

func (c *cli) showModel(ref string) error {
	app, err := c.open(roster.Options{})
	if err != nil {
		return err
	}
	r, err := app.Models().Lookup(modelcatalog.Ref{Text: ref, At: source.Origin{Layer: source.Flag}})
	if err != nil {
		return err
	}
	m, e := r.Model, r.Endpoint
	if c.json {
		return c.writeJSON(modelJSON{m.Provider, m.ID, e.API, e.BaseURL, e.KeyEnv, len(e.KeyCommand) > 0, m.ContextWindow, m.MaxOutput, m.Price, r.From, r.Note})
	}
	row := func(key string, value any, from string) []string { return []string{key, fmt.Sprint(value), from} }
	at := func(key string) string {
		if o := r.From[key]; o.File != "" {
			return o.String()
		}
		return string(r.From[key].Layer)
	}
	rows := [][]string{
		row("model", m, ""), row("api", e.API, ""), row("base-url", e.BaseURL, ""), row("key-env", orDash(e.KeyEnv), ""),
		row("context-window", m.ContextWindow, at("context-window")), row("max-output", m.MaxOutput, at("max-output")),
		row("input-price", m.Price.Input, at("input-price")), row("output-price", m.Price.Output, at("output-price")),
		row("cache-read-price", m.Price.CacheRead, at("cache-read-price")), row("cache-write-price", m.Price.CacheWrite, at("cache-write-price")),
	}
	if r.Note != "" {
		rows = append(rows, row("note", r.Note, ""))
	}
	render.Table(c.stdout, c.style(c.stdout.file), []string{"KEY", "VALUE", "FROM"}, rows)
	return nil
}

func (c *cli) testModel(cmd *cobra.Command, ref string) error {
	app, err := c.open(roster.Options{})
	if err != nil {
		return err
	}
	t, err := app.TestModel(cmd.Context(), ref)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(t)
	}
	fmt.Fprintf(c.stdout, "%s answers: %s\n", render.Safe(t.Model), render.Safe(strings.TrimSpace(t.Text)))
	fmt.Fprintf(c.stdout, "first text after %s, whole answer after %s, %s\n", t.First.Round(time.Millisecond), t.Took.Round(time.Millisecond), render.Usage(t.Usage))
	return nil
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
