package roster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rosterrun/roster/internal/keep"
	"github.com/rosterrun/roster/internal/wire"
	modelcatalog "github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/trust"
)

// Synced is what came of asking one provider's server which models it has.
type Synced struct {
	Provider string    `json:"provider"`
	BaseURL  string    `json:"base_url"`
	At       time.Time `json:"at,omitzero"`
	Models   int       `json:"models"`
	// New and Gone are the ids that the report before had not, and that this one
	// has not. Without counts models whose names nobody could write.
	New     []string `json:"new"`
	Gone    []string `json:"gone"`
	Without int      `json:"without,omitempty"`
	Error   string   `json:"error,omitempty"`
}

// Bounds of asking: for one server, and of the reports that are kept.
const (
	syncTime   = 20 * time.Second
	maxReports = 64
)

// reportsFile stands in the state directory.
const reportsFile = "models.json"

type reportsDocument struct {
	Version int                   `json:"version"`
	Reports []modelcatalog.Report `json:"reports"`
}

const reportsVersion = 1

// SyncModels asks servers which models they have, and keeps what they say as the
// last layer of the catalog of models. Without names it asks the providers on this
// machine; others are asked by name. It reads their keys and connects. The error
// is one of this side; what a server does wrong is in its Synced.
func (a *App) SyncModels(ctx context.Context, names ...string) ([]Synced, error) {
	if len(names) == 0 {
		names = a.localProviders()
	}
	var asked []modelcatalog.Resolved
	for _, name := range names {
		p, err := a.Models().Provider(name)
		if err != nil {
			return nil, err
		}
		if p.Endpoint.API != modelcatalog.APIOpenAIChat {
			return nil, fmt.Errorf("provider %s speaks %s: only servers with api: %s are asked", name, p.Endpoint.API, modelcatalog.APIOpenAIChat)
		}
		asked = append(asked, p)
	}
	var reports []modelcatalog.Report
	out := make([]Synced, len(asked))
	for i, p := range asked {
		out[i] = Synced{Provider: p.Endpoint.Provider, BaseURL: p.Endpoint.BaseURL, New: []string{}, Gone: []string{}}
		report, without, err := a.askModels(ctx, p)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			out[i].Error = a.redact(err.Error())
			continue
		}
		out[i].At, out[i].Models, out[i].Without = report.At, len(report.Models), without
		reports = append(reports, report)
	}
	if len(reports) == 0 {
		return out, nil
	}
	before, err := a.keepReports(ctx, reports)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].compare(before, reports)
	}
	a.again()
	return out, nil
}

// localProviders are those on this machine whose servers can be asked.
func (a *App) localProviders() (names []string) {
	for _, p := range a.Models().Keys() {
		if p.API == modelcatalog.APIOpenAIChat && p.Withheld == nil && trust.Loopback(p.BaseURL) {
			names = append(names, p.Provider)
		}
	}
	return names
}

// askModels asks one server.
func (a *App) askModels(ctx context.Context, p modelcatalog.Resolved) (modelcatalog.Report, int, error) {
	access, err := a.Models().Access(p)
	if err != nil {
		return modelcatalog.Report{}, 0, err
	}
	e := access.Endpoint
	base, path := modelcatalog.ReportPath(e.Provider, e.BaseURL)
	ctx, cancel := context.WithTimeout(ctx, syncTime)
	defer cancel()
	data, err := wire.NewEndpoint(wire.Config{
		Model: e.Provider, BaseURL: base, Path: path,
		Key: a.key(p), KeyName: a.Models().KeyName(e), KeyHeader: "Authorization", KeyPrefix: "Bearer ",
		Headers: headers(access), Idle: e.Timeout, Client: a.client,
	}).Get(ctx)
	if err != nil {
		return modelcatalog.Report{}, 0, err
	}
	models, without, err := modelcatalog.ParseReport(data)
	if err != nil {
		return modelcatalog.Report{}, 0, err
	}
	return modelcatalog.Report{Provider: e.Provider, BaseURL: e.BaseURL, At: time.Now().UTC().Truncate(time.Second), Models: models}, without, nil
}

// keepReports puts reports in the place of those of the same providers, and gives
// what stood there before.
func (a *App) keepReports(ctx context.Context, reports []modelcatalog.Report) (before []modelcatalog.Report, err error) {
	if err := os.MkdirAll(a.state, 0o700); err != nil {
		return nil, err
	}
	file := a.reportsFile()
	unlock, err := file.Lock(ctx, false)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if before, err = readReports(file); err != nil {
		a.opts.Log.Warn("what servers reported of their models before is not read", "error", err)
		before = nil
	}
	after := slices.DeleteFunc(slices.Clone(before), func(old modelcatalog.Report) bool {
		return slices.ContainsFunc(reports, func(r modelcatalog.Report) bool { return r.Provider == old.Provider })
	})
	after = append(after, reports...)
	if n := len(after) - maxReports; n > 0 {
		after = after[n:]
	}
	data, err := json.Marshal(reportsDocument{reportsVersion, after})
	if err != nil {
		return nil, err
	}
	return before, file.Write(append(data, '\n'))
}

func (a *App) reportsFile() keep.File { return keep.File(filepath.Join(a.state, reportsFile)) }

// reports is what servers said so far. What cannot be read counts as nothing: the
// catalog is whole without it.
func (a *App) reports() []modelcatalog.Report {
	reports, err := readReports(a.reportsFile())
	if err != nil {
		a.opts.Log.Warn("what servers reported of their models is not read; roster models sync asks again", "error", err)
	}
	return reports
}

func readReports(file keep.File) ([]modelcatalog.Report, error) {
	data, err := file.Read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var d reportsDocument
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if d.Version != reportsVersion || len(d.Reports) > maxReports {
		return nil, fmt.Errorf("%s is of another version", file)
	}
	return d.Reports, nil
}

// compare fills in what has changed since the report before.
func (s *Synced) compare(before, after []modelcatalog.Report) {
	if s.Error != "" {
		return
	}
	ids := func(reports []modelcatalog.Report) map[string]bool {
		set := map[string]bool{}
		for _, r := range reports {
			if r.Provider == s.Provider && r.BaseURL == s.BaseURL {
				for _, m := range r.Models {
					set[m.ID] = true
				}
			}
		}
		return set
	}
	had, has := ids(before), ids(after)
	for id := range has {
		if !had[id] {
			s.New = append(s.New, id)
		}
	}
	for id := range had {
		if !has[id] {
			s.Gone = append(s.Gone, id)
		}
	}
	slices.Sort(s.New)
	slices.Sort(s.Gone)
}

// again reads the reports anew, with everything that stands on the catalog of
// models.
func (a *App) again() {
	a.settle.Lock()
	defer a.settle.Unlock()
	next := *a.setup.Load()
	next.models = a.modelCatalog(next.config)
	next.forget()
	a.setup.Store(&next)
}
