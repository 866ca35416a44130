package engine

import (
	"bytes"
	"context"
	"slices"

	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/session"
)

// Live has tools that change by themselves, such as those of servers. It is safe for
// concurrent use.
type Live interface {
	// Stale says that the tools are others now. It is asked before each turn, and looks
	// at what is known.
	Stale() bool
	// Renew gives the blueprint with the tools that there are now. It waits for nobody
	// who has them.
	Renew(ctx context.Context) (*Blueprint, error)
	// Notes say what is to be known of the tools, such as which are not to be had.
	Notes() []string
}

// retool takes up tools that have changed since the turn before, and says so. The rest
// of what the loop runs by stays as it is, its prompt too.
func (r *run) retool() error {
	if r.Live == nil || r.s.Loop.Start.ClientCalls {
		return nil
	}
	if r.s.Loop.Turn == 0 {
		if notes := r.Live.Notes(); len(notes) > 0 {
			r.emit(&session.ToolsChanged{Notes: r.cleaned(notes)})
		}
	}
	if !r.Live.Stale() {
		return nil
	}
	now, err := r.renewed()
	if err != nil || now == nil {
		return r.ctx.Err() // it goes on with the tools that it has
	}
	was := r.Live.Notes()
	b := r.Blueprint.withTools(now)
	e := changes(r.Prefix.Tools, b.Prefix.Tools)
	for _, n := range now.Live.Notes() {
		if !slices.Contains(was, n) {
			e.Notes = append(e.Notes, n)
		}
	}
	e.Notes = r.cleaned(e.Notes)
	if b.prefixDigest != r.prefixDigest {
		if err := b.storeBlobs(r.ctx, r.deps.Blobs, r.st.Key.Tenant); err != nil {
			return err
		}
		e.Prefix = b.prefixDigest
	}
	r.Blueprint = b
	switch {
	case e.Prefix != "":
		r.emitRefs(e, e.Prefix)
	case len(e.Notes) > 0:
		r.emit(e)
	}
	return nil
}

// renewed asks for it, while others may go on.
func (r *run) renewed() (*Blueprint, error) {
	defer r.apart()()
	return safelyAs("the tools", func() (*Blueprint, error) { return r.Live.Renew(r.work) })
}

func (r *run) cleaned(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = r.clean(t)
	}
	return out
}

// withTools is the blueprint with the tools of another one of the same spec.
func (b *Blueprint) withTools(of *Blueprint) *Blueprint {
	c := b.clone()
	c.tools, c.withheld, c.having, c.extension, c.Live = of.tools, of.withheld, of.having, of.extension, of.Live
	c.setPrefix(&model.Prefix{System: b.Prefix.System, Tools: of.Prefix.Tools})
	return c
}

// changes says how one list of tools becomes another.
func changes(old, now []*model.ToolDef) *session.ToolsChanged {
	e := &session.ToolsChanged{}
	was := map[string]*model.ToolDef{}
	for _, d := range old {
		was[d.Name] = d
	}
	for _, d := range now {
		o := was[d.Name]
		switch {
		case o == nil:
			e.Added = append(e.Added, d.Name)
		case o.Description != d.Description || !bytes.Equal(o.Schema, d.Schema):
			e.Changed = append(e.Changed, d.Name)
		}
		delete(was, d.Name)
	}
	for _, d := range old {
		if was[d.Name] != nil {
			e.Removed = append(e.Removed, d.Name)
		}
	}
	return e
}
