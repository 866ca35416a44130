package roster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	modelcatalog "github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/sandbox"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/store/postgres"
	"github.com/rosterrun/roster/trust"
)

// Finding is one thing that was looked at, and how it stands. It never holds a
// secret.
type Finding = view.Finding

// Doctor looks at what a run would need: the workspace and whether it is trusted,
// the profiles, the providers and their keys, the store, the programs. It runs no
// command, opens no connection and prints no key; TestModel asks a model.
func (a *App) Doctor(ctx context.Context) []Finding {
	d := &doctor{App: a, ctx: ctx}
	d.workspace()
	d.profiles()
	d.models()
	d.store()
	d.web()
	d.services()
	d.mcpServers()
	d.commands()
	return d.found
}

type doctor struct {
	*App
	ctx   context.Context
	found []Finding
}

func (d *doctor) add(area, name, status, detail, hint string) {
	d.found = append(d.found, Finding{Area: area, Name: name, Status: status, Detail: detail, Hint: hint})
}

func (d *doctor) workspace() {
	cfg := d.Config()
	d.add("workspace", "directory", "ok", cfg.Dir, "")
	d.add("workspace", "configuration", "ok", cmp.Or(strings.Join(cfg.Files, ", "), "no roster.yaml; all is default"), "")
	inert := d.inert()
	switch n := len(inert); {
	case d.opts.Trust:
		d.add("workspace", "trust", "note", "everything counts, by --trust or ROSTER_TRUST", "")
	case n > 0:
		d.add("workspace", "trust", "warning", fmt.Sprintf("%d items have no effect; the first is %s at %s", n, inert[0].Key, inert[0].At), trust.Remedy)
	default:
		d.add("workspace", "trust", "ok", "nothing is held back", "")
	}
}

// inert lists what has no effect because nobody has trusted it.
func (d *doctor) inert() []trust.Item { return d.Trust().Inert(d.Survey()).Items }

func (d *doctor) profiles() {
	all := d.Catalog().Snapshot()
	errs := 0
	for _, diag := range all.Diagnostics() {
		if diag.Severity == profile.SeverityError {
			errs++
		}
	}
	if errs > 0 {
		d.add("profiles", "catalog", "error", fmt.Sprintf("%d loaded, %d errors", all.Len(), errs), "roster check says what and where")
		return
	}
	if all.Len() == 0 {
		d.add("profiles", "catalog", "warning", "there are none", "roster init makes two")
		return
	}
	d.add("profiles", "catalog", "ok", fmt.Sprintf("%d loaded", all.Len()), "")
}

// models says of each provider how it is reached and where its key is.
func (d *doctor) models() {
	ready := 0
	for _, p := range d.Models().Keys() {
		detail := p.API
		if p.BaseURL != "" {
			detail += " at " + p.BaseURL
		}
		switch {
		case p.Withheld != nil:
			d.add("models", p.Provider, "warning", detail+": held back", trust.Remedy)
			continue
		case p.Source == "":
			d.add("models", p.Provider, "note", fmt.Sprintf("%s: %s is not set", detail, p.KeyEnv), "set it to use these models")
			continue
		}
		d.add("models", p.Provider, "ok", detail+": "+p.Source, "")
		if p.API != modelcatalog.APIBuiltin && p.API != modelcatalog.APIScript {
			ready++
		}
	}
	d.reported()
	r, from, err := d.Models().Default(modelcatalog.DefaultOptions{APIs: spoken()})
	switch {
	case err != nil && ready == 0:
		d.add("models", "default", "warning", "no model is named and no key is there", "set a key, run Ollama, or try --model builtin/demo")
	case err != nil:
		d.add("models", "default", "note", "none; a profile or the workspace's defaults must name one", "")
	default:
		d.add("models", "default", "ok", fmt.Sprintf("%s, by %s, where nobody names one", r.Model, from), "")
	}
}

// reported says how old it is what servers said of their models.
func (d *doctor) reported() {
	for _, r := range d.App.reports() {
		d.add("models", r.Provider, "ok", fmt.Sprintf("%s reported %d models on %s", r.BaseURL, len(r.Models), r.At.Format(time.DateTime)+" UTC"), "")
	}
}

func (d *doctor) store() {
	cfg := d.Config()
	file, isFile := d.storeFile(cfg)
	if _, err := os.Stat(file); isFile && errors.Is(err, os.ErrNotExist) {
		d.add("store", "database", "ok", file+" is made by the first run", "")
		return
	}
	b, err := d.Backend(d.ctx)
	if err != nil {
		d.add("store", "database", "error", err.Error(), "")
		return
	}
	what := fmt.Sprintf("%s, store-sync %s", file, cfg.StoreSync.V)
	if p, ok := b.(*postgres.Store); ok {
		what = "PostgreSQL, " + p.Name()
	}
	d.add("store", "database", "ok", what, "")
}

func (d *doctor) commands() {
	if path, err := lookPath("bash"); err != nil {
		d.add("commands", "bash", "warning", "not found: the tool bash fails", "install it")
	} else {
		d.add("commands", "bash", "ok", path, "")
	}
	d.sandboxes()
}

// sandboxes says which kinds of sandbox work here.
func (d *doctor) sandboxes() {
	for _, kind := range sandbox.Kinds()[1:] {
		var no *sandbox.UnavailableError
		switch err := sandbox.Probe(kind); {
		case err == nil && kind == sandbox.Docker:
			d.add("commands", "sandbox docker", "note", "its client is here; no engine is asked before a command needs it", "")
		case err == nil:
			d.add("commands", "sandbox "+string(kind), "ok", "works here", "")
		case errors.As(err, &no):
			d.add("commands", "sandbox "+string(kind), "note", no.Reason, no.Remedy)
		default:
			d.add("commands", "sandbox "+string(kind), "note", err.Error(), "")
		}
	}
	box, err := d.boxIn(spec.Sandbox{}, d.dir)
	switch {
	case err != nil:
		d.add("commands", "sandbox", "warning", err.Error(), "")
	case box.Kind == "":
		d.add("commands", "sandbox", "warning", "none: commands run on the host where nobody names another", "sandbox: docker, or a kernel with landlock")
	default:
		if err := box.Check(d.ctx); err != nil {
			d.add("commands", "sandbox", "error", err.Error(), "")
			return
		}
		d.add("commands", "sandbox", "ok", string(box.Kind)+", where nobody names another", "")
	}
}

// lookPath finds a program without running it.
func lookPath(name string) (string, error) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", os.ErrNotExist
}

// Tested is what came of asking a model.
type Tested struct {
	Model string        `json:"model"`
	Text  string        `json:"text"`
	First time.Duration `json:"first_ns"` // until the first text
	Took  time.Duration `json:"took_ns"`
	Usage message.Usage `json:"usage"`
}

// testTime bounds a test.
const testTime = time.Minute

// TestModel asks a model for one word. It reads the key and connects.
func (a *App) TestModel(ctx context.Context, ref string) (Tested, error) {
	found, err := a.Models().Lookup(modelcatalog.Ref{Text: ref})
	if err != nil {
		return Tested{}, err
	}
	m, err := a.model(ctx, &spec.Spec{Model: found.Model})
	if err != nil {
		return Tested{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, testTime)
	defer cancel()
	t := Tested{Model: found.Model.String()}
	start := time.Now()
	ask := &message.Message{ID: "test", Role: message.User, Parts: []message.Part{message.Text{Text: "Reply with the word OK and nothing else."}}}
	for c, err := range m.Stream(ctx, &model.Request{Prefix: &model.Prefix{}, Messages: []*message.Message{ask}}) {
		if err != nil {
			return t, a.redactError(err)
		}
		if c.Text != "" && t.First == 0 {
			t.First = time.Since(start)
		}
		t.Text += c.Text
		if c.Usage != nil {
			t.Usage = *c.Usage
		}
	}
	t.Took = time.Since(start)
	return t, nil
}
