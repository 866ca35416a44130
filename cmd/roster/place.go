package main

import (
	"context"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
	modelcatalog "github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
)

// place is where a command works: the workspace of this machine, or a server.
type place interface {
	profiles
	library
	conversations
	callers
	rigs
	Dir() string      // of the workspace; of a server its URL
	StateDir() string // of the sessions; of a server its URL
	GoesOn() bool     // what is posted to an idle session is run without being asked for
	Close(context.Context) error
}

// profiles are looked at and changed. What overrides keys is for this machine: a
// server refuses it.
type profiles interface {
	Profiles(context.Context) ([]view.Item, []profile.Diagnostic, error)
	Profile(ctx context.Context, name string) (view.Profile, error)
	Prompt(ctx context.Context, name string, over session.Overrides) (view.Prompt, error)
	Explain(ctx context.Context, name string, over session.Overrides) (resolve.Explanation, []profile.Diagnostic, error)
	Permit(ctx context.Context, name string, over session.Overrides, tool, subject string) (view.Permit, []profile.Diagnostic, error)
	Tools(ctx context.Context, name string, over session.Overrides) (view.Tools, []profile.Diagnostic, error)
	ProfileHistory(ctx context.Context, name string) ([]view.Version, []profile.Diagnostic, error)
	ProfileDiff(ctx context.Context, name, from, to string) (string, error)
	// Create, Rollback and Delete say which file they have written or removed.
	Create(ctx context.Context, name string, f newFlags) (view.Profile, error)
	Rollback(ctx context.Context, name, version string) (view.Profile, error)
	Delete(ctx context.Context, name string) (file string, err error)
	CheckText(ctx context.Context, path, text string) (view.Checked, error)
}

// library is what agents have to work with.
type library interface {
	SkillList(ctx context.Context, profile string) ([]view.Skill, []profile.Diagnostic, error)
	SkillNamed(ctx context.Context, name string) (view.Skill, error)
	AllCommands(context.Context) (view.Commands, error)
	AllTools(context.Context) ([]view.Capability, error)
	Files(ctx context.Context, part string, limit int) (host.Files, error)
	AllModels(context.Context) ([]modelcatalog.Info, error)
	Servers(ctx context.Context, profile string) ([]view.Server, []profile.Diagnostic, error)
	Findings(context.Context) ([]view.Finding, error)
}

// conversations are run and read. The methods are those of roster.App.
type conversations interface {
	Reader(context.Context) (session.Reader, error)
	Submit(context.Context, roster.Ask) (roster.Submitted, error)
	Rerun(ctx context.Context, k session.Key, at string, ask roster.Ask) (roster.Submitted, error)
	Follow(ctx context.Context, k session.Key, after int64) iter.Seq2[[]session.Event, error]
	Resume(context.Context, session.Key) error
	Cancel(ctx context.Context, k session.Key, reason string) error
	Steer(context.Context, session.Key, []message.Part) error
	Followup(context.Context, session.Key, []message.Part) error
	Approvals(context.Context, session.Key) ([]roster.Approval, error)
	Answer(ctx context.Context, tenant, id string, a roster.Answer) (roster.Approval, error)
	Fork(ctx context.Context, k session.Key, id, at string) (session.Key, error)
	Compare(context.Context, roster.Comparison) (view.Compared, error)
	Revert(ctx context.Context, k session.Key, to string) (string, error)
	Tree(ctx context.Context, k session.Key, id string) ([]view.TreeMessage, error)
	Request(ctx context.Context, k session.Key, id string, turn int, about string) (*view.Request, error)
	Undo(ctx context.Context, k session.Key, o roster.UndoOptions) (view.Undo, error)
	Search(ctx context.Context, tenant, words string, limit int) ([]view.Found, error)
	Export(ctx context.Context, k session.Key, w io.Writer) error
	Import(ctx context.Context, tenant string, r io.Reader) (session.Key, error)
	Outdated(ctx context.Context, tenant string, since time.Time) ([]session.Summary, error)
	PruneAll(ctx context.Context, list []session.Summary) ([]session.Key, error)
	HoldsWorktree(stream string) error
	Usage(ctx context.Context, tenant string, q session.UsageQuery, limit int) (view.Usage, error)
}

// here is the workspace of this machine.
type here struct{ *roster.App }

func (here) GoesOn() bool { return false }

func (h here) Reader(ctx context.Context) (session.Reader, error) { return h.Backend(ctx) }

func (h here) Profiles(context.Context) ([]view.Item, []profile.Diagnostic, error) {
	all := h.Catalog().Snapshot()
	items := []view.Item{}
	for p := range all.List() {
		items = append(items, view.NewItem(p, all.DiagnosticsOf(p)))
	}
	return items, all.Diagnostics(), nil
}

func (h here) Profile(_ context.Context, name string) (view.Profile, error) {
	all := h.Catalog().Snapshot()
	p, err := all.Get(name)
	if err != nil {
		return view.Profile{}, err
	}
	return view.NewProfile(p, all.DiagnosticsOf(p)), nil
}

// Explain resolves NAME or NAME@REVISION.
func (h here) Explain(ctx context.Context, name string, over session.Overrides) (e resolve.Explanation, ds []profile.Diagnostic, err error) {
	var s *spec.Spec
	if name, revision, ok := strings.Cut(name, "@"); ok {
		s, ds, err = h.ResolveAt(ctx, name, revision, over)
	} else {
		s, ds, err = h.Resolve(ctx, name, over)
	}
	if err != nil {
		return e, nil, err
	}
	return resolve.Explain(s, ds...), ds, nil
}

func (h here) Create(ctx context.Context, name string, f newFlags) (view.Profile, error) {
	p, err := f.profile(name)
	if err != nil {
		return view.Profile{}, err
	}
	saved, err := h.Catalog().Save(ctx, p, catalog.SaveOptions{Dialect: f.dialect, IfAbsent: true})
	if err != nil {
		return view.Profile{}, err
	}
	return view.NewProfile(saved, h.Catalog().Snapshot().DiagnosticsOf(saved)), nil
}

func (h here) Rollback(ctx context.Context, name, version string) (view.Profile, error) {
	p, err := h.Catalog().Rollback(ctx, name, version, "", nil)
	if err != nil {
		return view.Profile{}, err
	}
	return view.NewProfile(p, nil), nil
}

func (h here) Delete(ctx context.Context, name string) (file string, err error) {
	if p, err := h.Catalog().Get(name); err == nil {
		file = p.File
	}
	return file, h.Catalog().Delete(ctx, name, "")
}

func (h here) SkillNamed(_ context.Context, name string) (view.Skill, error) { return h.Skill(name) }

func (h here) AllCommands(context.Context) (view.Commands, error) { return h.CommandList(), nil }

func (h here) AllTools(context.Context) ([]view.Capability, error) { return h.Capabilities(), nil }

func (h here) AllModels(context.Context) ([]modelcatalog.Info, error) {
	return append([]modelcatalog.Info{}, h.Models().List()...), nil
}

func (h here) Findings(ctx context.Context) ([]view.Finding, error) { return h.Doctor(ctx), nil }

func (h here) Usage(ctx context.Context, tenant string, q session.UsageQuery, limit int) (view.Usage, error) {
	b, err := h.Backend(ctx)
	if err != nil {
		return view.Usage{}, err
	}
	sums, err := b.Usage(ctx, tenant, q)
	if err != nil {
		return view.Usage{}, err
	}
	return view.NewUsage(&q, sums, limit), nil
}
