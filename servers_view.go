package roster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rosterrun/roster/config"
	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/mcp"
)

// ErrNoServer says that there is no MCP server of a name.
var ErrNoServer = errors.New("there is no such MCP server")

// serverSpec resolves what decides on the servers of a profile; without one, on those
// of the workspace.
func (a *App) serverSpec(name string) (*spec.Spec, []profile.Diagnostic, error) {
	from := a.now()
	p := &profile.Profile{Name: "workspace"}
	if name != "" {
		var err error
		if p, err = from.catalog.Get(name); err != nil {
			return nil, nil, err
		}
	}
	in := a.input(from, p, session.Overrides{})
	in.RulesOnly, in.WithServers = true, true
	return a.resolveInput(from, in)
}

// Servers lists the MCP servers of a profile, or of the workspace if name is empty,
// with those that have no effect. It starts and reaches nothing.
func (a *App) Servers(_ context.Context, name string) ([]view.Server, []profile.Diagnostic, error) {
	s, ds, err := a.serverSpec(name)
	if err != nil {
		return nil, ds, err
	}
	list := []view.Server{}
	remembered := a.remembered(s)
	for i := range s.Servers {
		list = append(list, a.serverView(s, &s.Servers[i], remembered))
	}
	cfg := a.Config()
	for i := range cfg.Servers {
		if x := &cfg.Servers[i]; x.Inert != nil && (name == "" || saysInert(ds, x)) {
			list = append(list, view.Server{Name: x.Name, Text: x.Item.Text, At: x.Item.At, State: "inert", Why: x.Inert.Message()})
		}
	}
	for i := range cfg.Servers {
		x := &cfg.Servers[i]
		for j := range list {
			if v := &list[j]; v.At == x.Item.At && filepath.Base(v.At.File) == config.File {
				v.Written = view.NewWritten(&x.Server, x.Item.Text)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b view.Server) int { return strings.Compare(a.Name, b.Name) })
	return list, ds, nil
}

func (a *App) serverView(s *spec.Spec, x *spec.Server, remembered map[string]memory) view.Server {
	v := view.Server{Name: x.Name, Text: x.Text, At: x.At, State: "unused"}
	if m, ok := remembered[x.Name]; ok {
		n := len(m.Tools)
		v.Tools, v.Seen = &n, &m.Seen
	}
	c := a.known(s, x)
	if c == nil {
		return v
	}
	switch st := c.State(); {
	case st.Up:
		v.State = "up"
	case st.Err != nil:
		v.State, v.Why = "down", a.redact(st.Err.Error())
	}
	if tools := c.Tools(); tools != nil {
		n := len(tools)
		v.Tools = &n
	}
	return v
}

func saysInert(ds []profile.Diagnostic, x *config.MCPServer) bool {
	return slices.ContainsFunc(ds, func(d profile.Diagnostic) bool {
		return d.Code == profile.CodeExecuting && d.File == x.Item.At.File && d.Line == x.Item.At.Line && d.Key == x.Item.Key
	})
}

// ServerTools starts or reaches the MCP servers of a profile, or of the workspace if
// name is empty, and lists the tools that agents are offered of them. notes say what is
// not to be had, and how many a profile does not offer.
func (a *App) ServerTools(ctx context.Context, name string) (list []view.ServerTool, notes []string, err error) {
	s, ds, err := a.serverSpec(name)
	if err != nil {
		return nil, nil, err
	}
	permit, err := s.Permit(false)
	if err != nil {
		return nil, nil, err
	}
	v := a.serve(ctx, s, true)
	list, notes = []view.ServerTool{}, slices.Clone(v.notes)
	withheld := 0
	for _, o := range engine.Offers(s, permit, v.all) {
		t := findTool(v.all, o.Name)
		switch {
		case t == nil: // it is listed, and none of theirs
		case o.Effect == permission.Deny:
			withheld++
		default:
			list = append(list, view.ServerTool{Server: t.Server(), Name: o.Name, Description: t.Def().Description})
		}
	}
	if withheld > 0 {
		notes = append(notes, fmt.Sprintf("%d more are not offered: roster tools --profile %s says why", withheld, s.Name))
	}
	for i := range ds {
		if ds[i].Code == profile.CodeExecuting {
			notes = append(notes, ds[i].Message+" ("+ds[i].Hint+")")
		}
	}
	for i, n := range notes {
		notes[i] = a.redact(n)
	}
	return list, notes, nil
}

func findTool(all []engine.Capability, name string) *gated {
	for _, c := range all {
		for _, t := range c.Tools {
			if g, ok := t.(*gated); ok && t.Def().Name == name {
				return g
			}
		}
	}
	return nil
}

// oneServer gives one server of a profile.
func (a *App) oneServer(name, server string) (*spec.Spec, *mcp.Client, error) {
	s, ds, err := a.serverSpec(name)
	if err != nil {
		return nil, nil, err
	}
	x, err := serverNamed(s, server)
	if err != nil {
		for i := range ds {
			if d := &ds[i]; d.Code == profile.CodeExecuting && strings.HasSuffix(d.Key, "."+server) {
				return nil, nil, d
			}
		}
		return nil, nil, err
	}
	c, err := a.serverClient(s, x)
	return s, c, err
}

func serverNamed(s *spec.Spec, name string) (*spec.Server, error) {
	names := make([]string, len(s.Servers))
	for i := range s.Servers {
		if names[i] = s.Servers[i].Name; names[i] == name {
			return &s.Servers[i], nil
		}
	}
	return nil, fmt.Errorf("%w: %q (there are: %s)", ErrNoServer, name, cmp.Or(strings.Join(names, ", "), "none"))
}

// CallServer calls a tool of an MCP server of a profile, or of the workspace if
// profileName is empty, by the server's name for it or by the one that it is offered
// by. Nobody is asked: it is the caller's own call.
func (a *App) CallServer(ctx context.Context, profileName, server, name string, input json.RawMessage) (tool.Result, error) {
	s, c, err := a.oneServer(profileName, server)
	if err != nil {
		return tool.Result{}, err
	}
	if err := c.Connect(ctx); err != nil {
		return tool.Result{}, a.cleanError(err)
	}
	a.remember(s, []*mcp.Client{c}, a.remembered(s))
	var names []string
	for _, t := range c.Tools() {
		names = append(names, t.Tool)
		if t.Tool == name || t.Name == name {
			res, err := callTool(ctx, t, input)
			return res, a.cleanError(err)
		}
	}
	hint := ""
	if near := profile.Nearest(name, names, 1); len(near) > 0 {
		hint = fmt.Sprintf("; did you mean %q?", near[0])
	}
	return tool.Result{}, fmt.Errorf("the MCP server %s has no tool %q%s", server, name, hint)
}

func callTool(ctx context.Context, t *mcp.Tool, input json.RawMessage) (tool.Result, error) {
	v, err := tool.NewValidator(t.Def())
	if err == nil {
		err = v.Validate(input)
	}
	if err != nil {
		return tool.Result{}, err
	}
	plan, err := t.Prepare(ctx, tool.Call{Input: input})
	if err != nil {
		return tool.Result{}, err
	}
	defer plan.Close()
	return plan.Run(ctx, nil)
}

// cleanError hides secrets in what a server, or the network, said.
func (a *App) cleanError(err error) error {
	if err == nil {
		return nil
	}
	if text := a.redact(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// RestartServer ends the connection to a server of the workspace, and what was
// started, and makes a new one.
func (a *App) RestartServer(ctx context.Context, server string) error {
	_, c, err := a.oneServer("", server)
	if err != nil {
		return err
	}
	return a.cleanError(c.Restart(ctx))
}
