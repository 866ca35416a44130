package roster

import (
	"context"
	"path/filepath"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/ui"
)

// Handler serves the workspace over HTTP: profiles, prompts, sessions and their
// event streams. It asks callers who they are as server.auth in roster.yaml says;
// without that, nobody is asked, and requests that do not come from this machine
// are refused.
func (a *App) Handler() *host.Host {
	d := a.hostDeps()
	a.guardDeps(&d)
	d.MCP, d.A2A, d.Page = a.mcpFront(), a.A2A(), ui.Handler()
	return host.New(d)
}

func (a *App) hostDeps() host.Deps {
	d := a.ownDeps()
	if a.host == nil && a.apart {
		d = a.perTenant()
	}
	a.limitDeps(&d)
	return d
}

// ownDeps are those of this workspace alone.
func (a *App) ownDeps() host.Deps {
	d := host.Deps{
		Profiles: func(context.Context) ([]*profile.Profile, []profile.Diagnostic, error) {
			all := a.Catalog().Snapshot()
			profiles := make([]*profile.Profile, 0, all.Len())
			for p := range all.List() {
				profiles = append(profiles, p)
			}
			return profiles, all.Diagnostics(), nil
		},
		Profile: func(ctx context.Context, name string) (*profile.Profile, error) {
			return a.profileHere(ctx, a.now(), name)
		},
		Edit: a.EditProfile, History: a.ProfileHistory, Diff: a.ProfileDiff, Check: a.CheckText,
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
		Compare: func(ctx context.Context, c Comparison) (view.Compared, error) {
			got, err := a.Compare(ctx, c)
			return got.View(), err
		},
		Rerun: a.Rerun, Revert: a.Revert, Undo: a.Undo, Tree: a.Tree, Prune: a.Prune,
		Follow: a.Follow, FollowFeed: a.FollowFeed, Backend: a.Backend, Code: Code, Log: a.opts.Log, Requested: a.requested,
	}
	if a.opts.Metrics {
		d.Metrics = a.WriteMetrics
	}
	d.Source, d.SaveSource = a.source, a.saveSource
	d.Files = a.Files
	d.Place = func(context.Context) (string, string, error) { return version(), filepath.Base(a.Dir()), nil }
	a.serveSkills(&d)
	a.serveServers(&d)
	a.serveLooks(&d)
	a.serveRigs(&d)
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

// ProfileDiff says what changed from one version of a profile to another, as a unified
// diff. Both are revisions that ProfileHistory lists, or the start of one; an empty to is
// what the file holds, an empty from the version before to. Errors are as of
// catalog.Catalog.Diff.
func (a *App) ProfileDiff(ctx context.Context, name, from, to string) (string, error) {
	return a.Catalog().Diff(ctx, name, from, to)
}

// CheckText says what the catalog would make of a file with this text at a path
// of the workspace.
func (a *App) CheckText(_ context.Context, path, text string) (view.Checked, error) {
	f := a.Catalog().CheckText(path, []byte(text))
	return view.Checked{Path: f.Path, Status: f.Status, Dialect: f.Dialect, Name: f.Name, Names: f.Names, Diagnostics: f.Diagnostics}, nil
}

// source gives the text of a file of profiles.
func (a *App) source(_ context.Context, path string) (host.Source, error) {
	t, err := a.Catalog().Text(path)
	return viewSource(t), err
}

// saveSource replaces the text of a file of profiles.
func (a *App) saveSource(ctx context.Context, e host.SourceEdit) (host.Source, error) {
	t, err := a.Catalog().SetText(ctx, e.Path, []byte(e.Text), catalog.TextOptions{IfMatch: e.Revision, Force: e.Force, Check: e.Check})
	return viewSource(t), err
}

func viewSource(t catalog.Text) host.Source {
	s := host.Source{
		Path: t.Path, Text: t.Text, Revision: t.Revision, Dialect: t.Dialect, Status: t.Status,
		Names: []string{}, Diagnostics: t.Diagnostics, Writable: t.ReadOnly == nil,
	}
	for _, p := range t.Profiles {
		if p.Name != "" {
			s.Names = append(s.Names, p.Name)
		}
	}
	return s
}
