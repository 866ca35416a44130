package roster

import (
	"context"
	"errors"
	"net/http"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/internal/view"
	modelcatalog "github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/source"
)

// serveLooks gives a host what there is to work with.
func (a *App) serveLooks(d *host.Deps) {
	d.Explain = func(ctx context.Context, name string) (view.Explanation, error) {
		s, ds, err := a.Resolve(ctx, name, session.Overrides{})
		if err != nil {
			return view.Explanation{}, err
		}
		return resolve.Explain(s, ds...), nil
	}
	d.Models = func(context.Context) ([]view.ModelItem, error) { return a.Models().List(), nil }
	d.Model = func(_ context.Context, ref string) (view.ModelView, error) {
		r, err := a.Models().Lookup(modelcatalog.Ref{Text: ref, At: source.Origin{Layer: source.Override}})
		if err != nil {
			return view.ModelView{}, err
		}
		return view.NewModelView(r, a.Models().KeySource(r.Endpoint)), nil
	}
	d.Capabilities = func(context.Context) ([]view.Capability, error) { return a.Capabilities(), nil }
	d.Doctor = func(ctx context.Context) ([]view.Finding, error) { return a.Doctor(ctx), nil }
	d.Export, d.Import = a.Export, a.Import
}

// serveServers gives a host the MCP servers.
func (a *App) serveServers(d *host.Deps) {
	d.Servers = func(ctx context.Context, name string) ([]view.Server, error) {
		list, _, err := a.Servers(ctx, name)
		return list, err
	}
	d.SaveServer = func(ctx context.Context, s profile.Server) error {
		return serverError(a.PutServer(ctx, s, false), http.StatusConflict, "ServerNotWritten")
	}
	d.DropServer = func(ctx context.Context, name string) error {
		return serverError(a.DropServer(ctx, name), http.StatusConflict, "ServerNotWritten")
	}
	d.RestartServer = func(ctx context.Context, name string) error {
		return serverError(a.RestartServer(ctx, name), http.StatusBadGateway, "ServerNotStarted")
	}
}

// serverError is an error of an MCP server as the host answers it.
func serverError(err error, status int, code string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrNoServer):
		return &host.Error{Status: http.StatusNotFound, Code: "ServerNotFound", Message: err.Error()}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return &host.Error{Status: status, Code: code, Message: err.Error()}
}
