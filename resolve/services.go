package resolve

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/service"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool/contract"
	"github.com/rosterrun/roster/trust"
)

// services lines up the services: those of roster.yaml, and over them what the layers
// say, an entry as a whole.
func (r *resolver) services() {
	out := r.in.Config.Services
	trace := spec.Trace{Origin: source.Origin{Layer: source.Builtin}}
	said := func(at source.Origin) {
		trace.Overrode = append(trace.Overrode, trace.Origin)
		trace.Origin = at
	}
	if len(out) > 0 {
		said(out[len(out)-1].At)
	}
	for i, l := range r.layers {
		keys, view := l.Keys, trust.Everything() // what has no effect is taken out of the defaults
		if i >= r.own {
			keys, view = r.written[i-r.own], r.in.Trust
		}
		w, err := keys.Services()
		if err != nil || w == nil {
			if r.badService(err); r.err != nil {
				return
			}
			continue
		}
		list, err := view.Services(keys.Name, w.Key, w.Value, w.Place)
		if r.badService(err); r.err != nil {
			return
		}
		place := w.At
		place.Layer = l.Name
		for i := range list.Entries {
			list.Entries[i].At.Layer = l.Name
		}
		said(place)
		r.unknownServices(list, out, w)
		out = list.Over(out)
	}
	out = slices.Clone(out)
	slices.SortFunc(out, func(a, b service.Entry) int { return cmp.Compare(a.Name, b.Name) })
	for _, e := range out {
		if taken(e.Name) {
			r.fail("openapi."+e.Name, e.At, fmt.Sprintf("%q is the name of a built-in tool or group of tools", e.Name), "choose another name")
			return
		}
	}
	if len(out) > 0 {
		r.out.Services = out
	}
	r.out.Origins["openapi"] = trace
}

// taken says that a name stands for something else where tools are listed.
func taken(name string) bool {
	return contract.Find(name) != nil || slices.Contains(contract.Groups(), contract.Group(name))
}

func (r *resolver) badService(err error) {
	var bad *trust.ServiceError
	switch {
	case err == nil:
	case errors.As(err, &bad):
		r.fail(bad.Item.Key, bad.Item.At, bad.Err.Error(), "")
	default:
		r.err = err
	}
}

// unknownServices says which names of a list stand for nothing.
func (r *resolver) unknownServices(list service.List, there []service.Entry, w *profile.Written) {
	for _, name := range list.Names {
		if slices.ContainsFunc(there, func(e service.Entry) bool { return e.Name == name }) {
			continue
		}
		names := make([]string, len(there))
		for i := range there {
			names[i] = there[i].Name
		}
		hint := "define it under openapi in roster.yaml"
		if near := profile.Nearest(name, names, 1); len(near) > 0 {
			hint = fmt.Sprintf("did you mean %q?", near[0])
		}
		r.ds = append(r.ds, profile.Diagnose(profile.CodeNoService, w.At, w.Key, fmt.Sprintf("there is no service %q", name), hint))
	}
}

// askForServices are the rules that stand before all others for what services offer.
func (r *resolver) askForServices() (rules []permission.Rule) {
	for _, e := range r.out.Services {
		rules = append(rules, permission.Rule{Tool: e.Name + "_*", Subject: "*", Effect: permission.Ask, At: source.Origin{Layer: source.Builtin}})
	}
	return rules
}

// Service is a service with its place.
type Service struct {
	Name      string   `json:"name"`
	Spec      string   `json:"spec"` // without what may be a secret
	Server    string   `json:"server,omitempty"`
	Hosts     []string `json:"hosts,omitempty"`
	Variables []string `json:"variables,omitempty"` // whose values it is sent
	Place
}

func (s Service) String() string { return s.Name + " " + s.Spec }

func servicesIn(s *spec.Spec) []Service {
	out := make([]Service, len(s.Services))
	for i := range s.Services {
		e := &s.Services[i]
		out[i] = Service{e.Name, e.Does(), e.Server, e.Hosts, e.Variables(), place(e.At)}
	}
	return out
}
