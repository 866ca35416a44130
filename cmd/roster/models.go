package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
	modelcatalog "github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/model/quirk"
	"github.com/rosterrun/roster/source"
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
		Long: `Lists the models of the built-in catalog, of models.yaml and of roster.yaml, and
where each is declared. A model is ready if its provider needs no key or the key
is in the environment. Prices are in US dollars per million tokens. Nothing is
asked of the network.`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.listModels(cmd.Context()) },
	})
	cmd.AddCommand(&cobra.Command{
		Use:     "show MODEL",
		Short:   "Show what a reference stands for: the model, its figures, how it is reached",
		Example: "  roster models show sonnet\n  roster models show ollama/qwen3",
		Args:    exactly("MODEL"),
		RunE:    func(_ *cobra.Command, args []string) error { return c.showModel(args[0]) },
	}, &cobra.Command{
		Use:   "sync [PROVIDER…]",
		Short: "Ask model servers which models they have",
		Long: `Asks the model servers of this machine which models they have, and keeps what they
say, for this workspace, as the last layer of the catalog: models list shows it
with its age. With names it asks those providers, wherever they are. What somebody
has declared of a model stays; any other command works without asking.`,
		Example: "  roster models sync\n  roster models sync ollama",
		Args:    cobra.ArbitraryArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return c.syncModels(cmd, args) },
	}, &cobra.Command{
		Use:   "test MODEL",
		Short: "Ask a model for one word",
		Long: `Asks a model for one word, and says how long it took and what it used. It reads
the key and connects, as a run does.`,
		Example: "  roster models test builtin/demo",
		Args:    exactly("MODEL"),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.testModel(cmd, args[0]) },
	}, c.modelKeysCommand())
	return cmd
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
	if c.json {
		return c.writeJSON(view.NewModelView(r, app.Models().KeySource(r.Endpoint)))
	}
	c.writeModel(r, app.Models().KeySource(r.Endpoint))
	return nil
}

// writeModel prints what a reference stands for. Headers are named without their
// values, and a key-command without its words.
func (c *cli) writeModel(r modelcatalog.Resolved, key string) {
	m, e := r.Model, r.Endpoint
	var headers []string
	for _, h := range e.Headers {
		headers = append(headers, h.Name)
	}
	command := ""
	if len(e.KeyCommand) > 0 {
		command = "set"
	}
	rows := [][]string{{"model", m.String(), ""}}
	add := func(key string, value any) {
		at := r.Origin(key)
		rows = append(rows, []string{key, orDash(fmt.Sprint(value)), placeOf(at)})
	}
	add("api", e.API)
	add("base-url", e.BaseURL)
	add("key-env", e.KeyEnv)
	add("key-command", command)
	rows = append(rows, []string{"key", orDash(key), ""})
	add("headers", strings.Join(headers, ", "))
	if e.Timeout > 0 {
		add("timeout", e.Timeout)
	}
	for _, k := range quirk.Keys() {
		if v := e.Quirks.Get(k); v != quirk.Values(k)[0] || r.QuirkOrigin(k) != (source.Origin{}) {
			rows = append(rows, []string{"quirks." + string(k), v, placeOf(r.QuirkOrigin(k))})
		}
	}
	add("context-window", m.ContextWindow)
	add("max-output", m.MaxOutput)
	add("input-price", m.Price.Input)
	add("output-price", m.Price.Output)
	add("cache-read-price", m.Price.CacheRead)
	add("cache-write-price", m.Price.CacheWrite)
	add("thinking-levels", strings.Join(m.Thinking, ", "))
	if v := r.Variant; v != nil {
		rows = append(rows, []string{"variant", v.Name, v.At.String()})
		for _, s := range v.Settings() {
			rows = append(rows, []string{s.Key, fmt.Sprint(s.Value), s.At.String()})
		}
	}
	if !r.Reported.IsZero() {
		rows = append(rows, []string{"reported", since(r.Reported), e.BaseURL})
	}
	if r.Note != "" {
		rows = append(rows, []string{"note", r.Note, ""})
	}
	render.Table(c.stdout, c.style(c.stdout.file), []string{"KEY", "VALUE", "FROM"}, rows)
}

// placeOf names a place: its layer, or the line of a file.
func placeOf(at source.Origin) string {
	if at.File != "" {
		return at.String()
	}
	return string(at.Layer)
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

func (c *cli) syncModels(cmd *cobra.Command, names []string) error {
	app, err := c.open(roster.Options{})
	if err != nil {
		return err
	}
	synced, err := app.SyncModels(cmd.Context(), names...)
	if err != nil {
		return err
	}
	failed := 0
	for _, s := range synced {
		if s.Error != "" {
			failed++
		}
	}
	if c.json {
		err = c.writeJSON(append([]roster.Synced{}, synced...))
	} else {
		c.writeSynced(synced)
	}
	if err == nil && (failed == len(synced) || failed > 0 && len(names) > 0) {
		return exit(exitFailed)
	}
	return err
}

func (c *cli) writeSynced(synced []roster.Synced) {
	if len(synced) == 0 && !c.quiet {
		fmt.Fprintln(c.stderr, "roster: no provider of this machine is declared: name those that are to be asked")
	}
	for _, s := range synced {
		if s.Error != "" {
			fmt.Fprintf(c.stderr, "roster: %s: %s\n", s.Provider, render.Safe(s.Error))
			continue
		}
		fmt.Fprintf(c.stdout, "%s at %s: %d models, %d new, %d gone\n", s.Provider, s.BaseURL, s.Models, len(s.New), len(s.Gone))
		if s.Without > 0 {
			fmt.Fprintf(c.stderr, "roster: %s: %d models are left out: nobody could write their names\n", s.Provider, s.Without)
		}
	}
}

// since says how long ago something was.
func since(t time.Time) string {
	d := time.Since(t)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	}
	return fmt.Sprintf("%d days ago", d/(24*time.Hour))
}

func (c *cli) listModels(ctx context.Context) error {
	at, err := c.reach()
	if err != nil {
		return err
	}
	models, err := at.AllModels(ctx)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(models)
	}
	var rows [][]string
	for _, m := range models {
		ready := "yes"
		if !m.Configured {
			ready = "no key"
		}
		from := m.Source.String()
		if !m.Reported.IsZero() {
			from += ", " + since(m.Reported)
		}
		rows = append(rows, []string{
			m.Provider + "/" + m.ID, fmt.Sprint(m.ContextWindow), fmt.Sprint(m.MaxOutput),
			fmt.Sprint(m.InputPrice), fmt.Sprint(m.OutputPrice), ready, from, m.Note,
		})
	}
	render.Table(c.stdout, c.style(c.stdout.file), []string{"MODEL", "WINDOW", "OUTPUT", "$ IN", "$ OUT", "READY", "SOURCE", "NOTE"}, rows)
	return nil
}
