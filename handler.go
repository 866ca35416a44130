package roster

import (
	"context"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

// Handler serves the workspace over HTTP: profiles, prompts, sessions and their
// event streams. It asks nobody who they are and refuses requests that do not
// come from this machine.
func (a *App) Handler() *host.Host {
	d := a.hostDeps()
	d.MCP = a.MCP(nil)
	return host.New(d)
}

func (a *App) hostDeps() host.Deps {
	d := host.Deps{
		Profiles: func(context.Context) ([]*profile.Profile, []profile.Diagnostic, error) {
			all := a.Catalog().Snapshot()
			profiles := make([]*profile.Profile, 0, all.Len())
			for p := range all.List() {
				profiles = append(profiles, p)
			}
			return profiles, all.Diagnostics(), nil
		},
		Profile: func(_ context.Context, name string) (*profile.Profile, error) { return a.Catalog().Get(name) },
		Edit:    a.EditProfile, History: a.ProfileHistory, Check: a.CheckText,
		Delete: func(ctx context.Context, name, revision string) error { return a.Catalog().Delete(ctx, name, revision) },
		Prompt: func(ctx context.Context, name string) (view.Prompt, error) {
			return a.Prompt(ctx, name, session.Overrides{})
		},
		Rollback: func(ctx context.Context, name, version, ifMatch string, check func([]*profile.Profile) error) (*profile.Profile, error) {
			return a.Catalog().Rollback(ctx, name, version, ifMatch, check)
		},
		Permit: func(ctx context.Context, name, tool, subject string) (view.Permit, error) {
			p, _, err := a.Permit(ctx, name, session.Overrides{}, tool, subject)
			return p, err
		},
		Tools: func(ctx context.Context, name string) (view.Tools, error) {
			t, _, err := a.Tools(ctx, name, session.Overrides{})
			return t, err
		},
		Commands: func(context.Context) (view.Commands, error) { return a.CommandList(), nil }, Call: a.Call,
		Submit: a.Submit, Steer: a.Steer, Followup: a.Followup, Cancel: a.Cancel, Configure: a.Configure,
		Approvals: a.Approvals, Answer: a.Answer, Fork: a.Fork, Request: a.Request,
		Rerun: a.Rerun, Revert: a.Revert, Undo: a.Undo, Tree: a.Tree, Prune: a.Prune,
		Follow: a.Follow, Backend: a.Backend, Code: Code, Log: a.opts.Log,
	}
	a.serveSkills(&d)
	return d
}

// EditProfile makes a profile or changes it, as the HTTP interface does.
func (a *App) EditProfile(ctx context.Context, e host.Edit) (*profile.Profile, error) {
	return a.Catalog().Set(ctx, e.Name, e.Keys, catalog.SaveOptions{Dialect: e.Dialect, IfAbsent: e.New, IfMatch: e.Revision})
}

// ProfileHistory lists the versions of a profile, the newest first, and what of
// them could not be read.
func (a *App) ProfileHistory(ctx context.Context, name string) ([]view.Version, []profile.Diagnostic, error) {
	all, ds, err := a.Catalog().History(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	out := make([]view.Version, len(all))
	for i, v := range all {
		out[i] = view.Version{Revision: v.Revision, Time: v.Time, Author: v.Author, Message: v.Message, Source: v.Source, Current: v.Current}
	}
	return out, ds, nil
}

// CheckText says what the catalog would make of a file with this text at a path
// of the workspace.
func (a *App) CheckText(_ context.Context, path, text string) (view.Checked, error) {
	f := a.Catalog().CheckText(path, []byte(text))
	return view.Checked{Path: f.Path, Status: f.Status, Dialect: f.Dialect, Name: f.Name, Names: f.Names, Diagnostics: f.Diagnostics}, nil
}
