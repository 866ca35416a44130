package roster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/sandbox"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/mcp"
	"github.com/rosterrun/roster/trust"
)

// How long the beginning of a run waits for servers: for one of which nothing is
// known, and for one whose tools are remembered. One that has just failed is not
// waited for. What comes later the next turn has.
const (
	waitFirst = 20 * time.Second
	waitKnown = 3 * time.Second
	justNow   = 30 * time.Second
)

// servers are the MCP servers that were reached so far. The zero value has none.
type servers struct {
	mu      sync.Mutex
	pool    *mcp.Pool
	clients map[string]*mcp.Client // by what clientKey gives; the newest
	kept    map[string]uint64      // the generation that is remembered, by digest
	hidden  secrets
}

// serverPool has the connections. It is made when it is first needed.
func (a *App) serverPool() *mcp.Pool {
	a.servers.mu.Lock()
	defer a.servers.mu.Unlock()
	if a.servers.pool == nil {
		a.servers.pool = mcp.NewPool(mcp.Options{Version: version(), Log: func(server, line string) {
			a.opts.Log.Info("MCP server", "server", server, "said", line)
		}})
		a.servers.clients, a.servers.kept = map[string]*mcp.Client{}, map[string]uint64{}
	}
	return a.servers.pool
}

// closeServers ends what was started.
func (a *App) closeServers() error {
	a.servers.mu.Lock()
	p := a.servers.pool
	a.servers.mu.Unlock()
	if p == nil {
		return nil
	}
	return p.Close()
}

func clientKey(s *spec.Spec, x *spec.Server) string { return x.Digest + "\x00" + s.Workspace }

// known is the client of a server that was used before; nil: it was not.
func (a *App) known(s *spec.Spec, x *spec.Server) *mcp.Client {
	a.servers.mu.Lock()
	defer a.servers.mu.Unlock()
	return a.servers.clients[clientKey(s, x)]
}

// serverClient gives the client of a server, with all of its texts filled in. The error is
// for people, and names what is missing.
func (a *App) serverClient(s *spec.Spec, x *spec.Server) (*mcp.Client, error) {
	server, err := a.server(s, x)
	if err != nil {
		return nil, err
	}
	c := a.serverPool().Get(server)
	a.servers.mu.Lock()
	defer a.servers.mu.Unlock()
	a.servers.clients[clientKey(s, x)] = c
	return c, nil
}

func itemOf(x *spec.Server) trust.Item {
	return trust.Item{Kind: trust.Server, Profile: x.Profile, Key: x.Key, At: x.At, Text: x.Text, Digest: x.Digest}
}

// server reads what a server is reached by.
func (a *App) server(s *spec.Spec, x *spec.Server) (mcp.Server, error) {
	if err := a.Trust().Gate(itemOf(x)); err != nil {
		return mcp.Server{}, err
	}
	reach := x.Reach
	if reach == nil {
		if reach = a.reachOf(s, x); reach == nil {
			return mcp.Server{}, fmt.Errorf("%s: its definition has changed since the loop began; the next one has the new one", x.At)
		}
	}
	full, err := reach.Expand(a.serverVariable)
	if err != nil {
		return mcp.Server{}, fmt.Errorf("%s: %w; set it, or write ${NAME:-text} for what counts without it", x.At, err)
	}
	a.servers.hidden.add(reach, &full)
	out := mcp.Server{Name: x.Name, Timeout: full.Timeout, TrustAnnotations: full.TrustAnnotations, URL: full.URL}
	if full.Roots {
		out.Roots = []string{s.Workspace}
	}
	if full.URL != "" {
		out.Headers = map[string]string{}
		for _, h := range full.Headers {
			out.Headers[h.Name] = h.Value
		}
		return out, nil
	}
	out.Command, out.Args, out.Dir = full.Command, full.Args, full.Dir
	if out.Dir == "" || !filepath.IsAbs(out.Dir) {
		out.Dir = filepath.Join(s.Workspace, out.Dir)
	}
	if strings.Contains(out.Command, "/") && !filepath.IsAbs(out.Command) {
		out.Command = filepath.Join(out.Dir, out.Command)
	}
	var extra []string
	if out.Box, extra, err = a.serverBox(s, x); err != nil {
		return mcp.Server{}, err
	}
	out.Env = append(tool.Environ(os.Environ(), a.keyVariables()), append(extra, "PWD="+out.Dir)...)
	for _, e := range full.Env {
		out.Env = append(out.Env, e.Name+"="+e.Value)
	}
	out.Exec, out.Hold = a.helper()
	return out, nil
}

// serverVariable reads a variable for a server. The workspace has some names in other
// tools' files.
func (a *App) serverVariable(name string) (string, bool) {
	if v, ok := a.lookupEnv(name); ok {
		return v, ok
	}
	switch name {
	case "workspaceFolder", "CLAUDE_PROJECT_DIR":
		return a.dir, true
	}
	return "", false
}

// reachOf finds the definition of a server that stands in a log by its digest.
func (a *App) reachOf(s *spec.Spec, x *spec.Server) *reach {
	from := a.now()
	for i := range from.config.Servers {
		if c := &from.config.Servers[i]; c.Name == x.Name && c.Item.Digest == x.Digest {
			return &c.Server
		}
	}
	var p *profile.Profile
	if own := ownOf(s.Code); own != nil {
		p = own.base
	} else if p, _ = from.catalog.Get(s.Name); p == nil {
		return nil
	}
	in := a.input(from, p, overrides{})
	in.RulesOnly, in.WithServers = true, true
	now, _, err := a.resolveInput(from, in)
	if err != nil {
		return nil
	}
	for i := range now.Servers {
		if n := &now.Servers[i]; n.Name == x.Name && n.Digest == x.Digest {
			return n.Reach
		}
	}
	return nil
}

// serverBox is what a server of this machine runs in: as commands do, with a folder
// of its own for what it downloads, and variables that point there. One that the
// user has in a file of his own is his own program, and runs as such.
func (a *App) serverBox(s *spec.Spec, x *spec.Server) (sandbox.Box, []string, error) {
	if f := x.At.File; a.Trust().Own(f) || filepath.IsAbs(f) && filepath.IsLocal(relative(a.trusts.Home, f)) { // also where all is trusted
		return sandbox.Box{}, nil, nil
	}
	b, err := a.box(s)
	if err != nil || b.Kind == "" || b.Kind == sandbox.None || b.Kind == sandbox.Docker {
		return b, nil, err
	}
	base := a.opts.Getenv("XDG_CACHE_HOME")
	if base == "" {
		if base = a.opts.Getenv("HOME"); base == "" {
			return b, nil, nil
		}
		base = filepath.Join(base, ".cache")
	}
	dir := filepath.Join(base, "roster", filepath.Base(a.state), "servers")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return b, nil, fmt.Errorf("the folder for what MCP servers download: %w", err)
	}
	b.Write = append(b.Write[:len(b.Write):len(b.Write)], dir)
	return b, []string{"XDG_CACHE_HOME=" + dir, "npm_config_cache=" + filepath.Join(dir, "npm"), "UV_CACHE_DIR=" + filepath.Join(dir, "uv"), "npm_config_update_notifier=false"}, nil
}

// serving is what a spec has of MCP servers at a moment. It is engine.Live.
type serving struct {
	app      *App
	spec     *spec.Spec
	headless bool
	clients  []*mcp.Client
	seen     []uint64 // their generations
	all      []engine.Capability
	notes    []string
	whole    bool // each is up, or its tools are known
}

// serve gives what a spec has of its servers. connect has them started and waited for.
func (a *App) serve(ctx context.Context, s *spec.Spec, connect bool) *serving {
	v := &serving{app: a, spec: s, whole: true}
	for i := range s.Servers {
		x := &s.Servers[i]
		if !offersOf(s, x) {
			continue
		}
		c, err := a.serverClient(s, x)
		if err != nil {
			v.notes = append(v.notes, fmt.Sprintf("the MCP server %s is left out: %v", x.Name, err))
			continue
		}
		v.clients = append(v.clients, c)
	}
	remembered := a.remembered(s)
	if connect {
		await(ctx, v.clients, remembered)
	}
	a.remember(s, v.clients, remembered)
	v.take(remembered)
	return v
}

// shown is serve for views: it starts, reaches and reads nothing.
func (a *App) shown(s *spec.Spec) *serving {
	v := &serving{app: a, spec: s}
	none := mcp.NewPool(mcp.Options{})
	defer none.Close()
	for i := range s.Servers {
		x := &s.Servers[i]
		c := a.known(s, x)
		if c == nil {
			c = none.Get(mcp.Server{Name: x.Name})
		}
		v.clients = append(v.clients, c)
	}
	v.take(a.remembered(s))
	return v
}

// offersOf says whether a spec may be offered a tool of a server, as far as its tools
// say.
func offersOf(s *spec.Spec, x *spec.Server) bool {
	prefix := x.Prefix()
	return s.AllTools || hasResources(*x) || slices.ContainsFunc(resourceTools(), func(name string) bool { return slices.Contains(s.Tools, name) }) || slices.ContainsFunc(s.Tools, func(name string) bool {
		head, _, wild := strings.Cut(name, "*")
		return strings.HasPrefix(name, prefix) || wild && (strings.HasPrefix(prefix, head) || strings.HasPrefix(head, prefix))
	})
}

// await waits for servers.
func await(ctx context.Context, clients []*mcp.Client, remembered map[string]memory) {
	var all sync.WaitGroup
	for _, c := range clients {
		st := c.State()
		if st.Up || st.Err != nil && time.Since(st.Since) < justNow {
			continue
		}
		limit := waitFirst
		if c.Tools() != nil || len(remembered[c.Name()].Tools) > 0 {
			limit = waitKnown
		}
		all.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			_ = c.Connect(ctx) // its state says it
		})
	}
	all.Wait()
}

// take makes the capabilities of what the servers offer.
func (v *serving) take(remembered map[string]memory) {
	defs := map[string][]mcp.Definition{}
	for name, m := range remembered {
		defs[name] = m.Tools
	}
	for _, c := range v.clients {
		st := c.State()
		v.seen = append(v.seen, st.Generation)
		if st.Err != nil {
			v.notes = append(v.notes, v.down(c, st.Err, len(defs[c.Name()]) > 0 || c.Tools() != nil))
		}
		v.whole = v.whole && (st.Up || c.Tools() != nil)
	}
	tools, problems := mcp.Offer(v.clients, defs, v.app.taken(v.spec)...)
	for _, p := range problems {
		v.notes = append(v.notes, p.String())
	}
	for i := range v.spec.Servers {
		x := &v.spec.Servers[i]
		c := engine.Capability{Name: x.Prefix() + "*", Summary: "the MCP server " + x.Name}
		for _, t := range tools {
			if t, ok := t.(*mcp.Tool); ok && t.Server() == x.Name && v.counts(x, t) {
				c.Tools = append(c.Tools, &gated{t, v.app, itemOf(x)})
			}
		}
		if len(c.Tools) > 0 {
			v.all = append(v.all, c)
		}
	}
	if len(v.clients) > 0 {
		v.all = append(v.all, v.reading())
	}
}

func (v *serving) down(c *mcp.Client, err error, known bool) string {
	text := fmt.Sprintf("the MCP server %s is down: %v; it is tried again", c.Name(), err)
	if known {
		text += ", and its tools are those that it had"
	}
	return text
}

// counts says whether the definition of a server has a tool of it count.
func (v *serving) counts(x *spec.Server, t *mcp.Tool) bool {
	r := x.Reach
	if r == nil {
		if r = v.app.reachOf(v.spec, x); r == nil {
			return false
		}
	}
	return (r.Tools == nil || slices.Contains(r.Tools, t.Tool)) && !slices.Contains(r.Without, t.Tool)
}

// beside adds what the servers offer to the tools of others. A name that is taken there
// is not offered a second time.
func (v *serving) beside(all []engine.Capability) []engine.Capability {
	names := namesOf(all)
	for _, c := range v.all {
		c.Tools = slices.DeleteFunc(slices.Clone(c.Tools), func(t tool.Tool) bool { return slices.Contains(names, t.Def().Name) })
		all = append(all, c)
	}
	return all
}

// key names what the tools are, as long as the program runs.
func (v *serving) key() string {
	var b strings.Builder
	for i, c := range v.clients {
		fmt.Fprintf(&b, "%p:%d ", c, v.seen[i])
	}
	return b.String() + strings.Join(v.notes, "\n")
}

// Stale implements engine.Live.
func (v *serving) Stale() bool {
	for i, c := range v.clients {
		if c.State().Generation != v.seen[i] {
			return true
		}
	}
	return false
}

// Renew implements engine.Live.
func (v *serving) Renew(ctx context.Context) (*engine.Blueprint, error) {
	return v.app.blueprintNow(ctx, v.app.now(), v.spec, v.headless, false)
}

// Notes implements engine.Live.
func (v *serving) Notes() []string { return v.notes }

// gated is a tool of a server that can be called as long as the server is trusted.
type gated struct {
	*mcp.Tool
	app  *App
	item trust.Item
}

func (g *gated) Prepare(ctx context.Context, c tool.Call) (tool.Plan, error) {
	if err := g.app.Trust().Gate(g.item); err != nil {
		return nil, err
	}
	return g.Tool.Prepare(ctx, c)
}

// namesOf are the names that the tools of capabilities have.
func namesOf(all []engine.Capability) []string {
	var names []string
	for _, c := range all {
		for _, t := range c.Tools {
			names = append(names, t.Def().Name)
		}
	}
	return names
}
