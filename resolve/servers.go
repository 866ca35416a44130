package resolve

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool/contract"
	"github.com/rosterrun/roster/trust"
)

// servers finds the MCP servers: those of the workspace, and over them what each
// layer says. A map adds to what is there, or takes away; a list takes away all that
// it does not name. An entry counts as a whole: nothing of a weaker one of the same
// name is left.
func (r *resolver) servers() {
	r.set(profile.Servers, source.Origin{Layer: source.Builtin})
	f := serverFinder{resolver: r, found: map[string]spec.Server{}, inert: map[string]*trust.Error{}}
	for i := range r.in.Config.Servers {
		s := &r.in.Config.Servers[i]
		if s.Inert != nil {
			f.inert[s.Name] = s.Inert
			continue
		}
		f.put(s.Server, s.Item, s.Item.At)
	}
	for i, l := range r.layers[1:] {
		keys := l.Keys
		if i+1 >= r.own { // what has no effect still narrows
			keys = r.written[i+1-r.own]
		}
		f.layer(l.Name, keys)
	}
	for _, name := range slices.Sorted(maps.Keys(f.found)) {
		r.out.Servers = append(r.out.Servers, f.found[name])
	}
	for _, name := range slices.Sorted(maps.Keys(f.inert)) {
		if _, ok := f.found[name]; !ok {
			r.ds = append(r.ds, f.inert[name].Diagnostic())
		}
	}
	r.out.Tools = serverTools(r.out.Tools, f.found)
}

type serverFinder struct {
	*resolver
	found map[string]spec.Server
	inert map[string]*trust.Error // of the workspace, those that have no effect
}

// put takes in a server that has an effect.
func (f *serverFinder) put(s profile.Server, i trust.Item, at source.Origin) {
	trace := f.out.Origins[profile.Servers]
	if _, twice := f.found[s.Name]; twice {
		trace.Overrode = append(trace.Overrode, f.found[s.Name].At)
	}
	trace.Origin = at
	f.out.Origins[profile.Servers] = trace
	f.found[s.Name] = spec.Server{Name: s.Name, Profile: i.Profile, Key: i.Key, At: at, Digest: i.Digest, Text: i.Text, Reach: &s}
}

// layer puts what a layer says over what is there.
func (f *serverFinder) layer(name source.Layer, p *profile.Profile) {
	x, value, place, ok := p.ServerKey()
	if !ok {
		return
	}
	list, names, listed := profile.ServerEntries(value)
	if listed {
		f.narrowTo(names, x)
		at := x.At
		at.Layer = name
		f.out.Origins[profile.Servers] = spec.Trace{Origin: at}
	}
	for _, e := range list {
		at := place(e.Item)
		at.Layer = name
		s, off, _, err := profile.ParseServer(e.Name, e.Value, profile.ServerUnit(p.Dialect))
		i := trust.ServerItem(p.Name, x.Key, e, x.At)
		switch {
		case off:
			delete(f.found, e.Name)
			delete(f.inert, e.Name)
		case err != nil:
			f.ds = append(f.ds, profile.Diagnose(profile.CodeServerOut, at, x.Key+"."+e.Name, x.Key+"."+e.Name+": "+strings.ReplaceAll(err.Error(), "\n", "; ")+"; the server is left out", ""))
		case f.in.Trust.State(i).Acts(): // else it was said when the layer was put there
			f.put(s, i, at)
		}
	}
}

// narrowTo takes away all servers but those.
func (f *serverFinder) narrowTo(names []string, x profile.Extra) {
	known := append(slices.Collect(maps.Keys(f.found)), slices.Collect(maps.Keys(f.inert))...)
	for _, n := range names {
		if slices.Contains(known, n) {
			continue
		}
		hint := "name it under mcp-servers in roster.yaml, or in .mcp.json; roster mcp list shows those that there are"
		if near := profile.Nearest(n, known, 1); len(near) > 0 {
			hint = fmt.Sprintf("did you mean %q?", near[0])
		}
		f.ds = append(f.ds, profile.Diagnose(profile.CodeNoServer, x.At, x.Key, fmt.Sprintf("%s: there is no MCP server %q", x.Key, n), hint))
	}
	maps.DeleteFunc(f.found, func(name string, _ spec.Server) bool { return !slices.Contains(names, name) })
	maps.DeleteFunc(f.inert, func(name string, _ *trust.Error) bool { return !slices.Contains(names, name) })
}

// serverTools has a server that is listed among tools stand for all of its own.
func serverTools(names []string, servers map[string]spec.Server) []string {
	for i, name := range names {
		s, ok := servers[name]
		if !ok || contract.Find(name) != nil || contract.In(contract.Group(name)) != nil {
			continue
		}
		if pattern := s.Prefix() + "*"; !slices.Contains(names, pattern) {
			names = slices.Clone(names)
			names[i] = pattern
		}
	}
	return names
}

// Server is an MCP server with its place.
type Server struct {
	Name string `json:"name"`
	Text string `json:"text"` // without what may be a secret
	Place
}

func (s Server) String() string { return s.Name + " " + s.Text }

func serversIn(s *spec.Spec) []Server {
	out := make([]Server, len(s.Servers))
	for i, x := range s.Servers {
		out[i] = Server{x.Name, x.Text, place(x.At)}
	}
	return out
}
