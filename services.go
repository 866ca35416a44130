package roster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/rosterrun/roster/config"
	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/service"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/contract"
	"github.com/rosterrun/roster/tool/openapi"
	"github.com/rosterrun/roster/trust"
)

// services is what is kept of services: their documents as they were read, and the
// variables that they are shown. It is safe for concurrent use.
type services struct {
	mu        sync.Mutex
	documents map[documentKey]*openapi.Document
	variables []string
	fetching  sync.Mutex // held while documents are fetched
}

// withServices adds the variables that services are shown.
func withServices(names []string, c *config.Config) []string {
	if len(c.Services) == 0 {
		return names
	}
	return addVariables(slices.Clone(names), c.Services)
}

func addVariables(names []string, list []service.Entry) []string {
	for i := range list {
		for _, v := range list[i].Variables() {
			if !slices.Contains(names, v) {
				names = append(names, v)
			}
		}
	}
	return names
}

// shownVariables are those of services that profiles have for themselves, as far as
// they were looked at.
func (a *App) shownVariables(names []string) []string {
	a.services.mu.Lock()
	defer a.services.mu.Unlock()
	for _, v := range a.services.variables {
		if !slices.Contains(names, v) {
			names = append(names[:len(names):len(names)], v)
		}
	}
	return names
}

// knowVariables has the variables of a spec's services kept from commands and texts.
func (a *App) knowVariables(s *spec.Spec) {
	if len(s.Services) == 0 {
		return
	}
	a.services.mu.Lock()
	defer a.services.mu.Unlock()
	a.services.variables = addVariables(a.services.variables, s.Services)
}

// withServiceTools adds the operations of a spec's services, as far as their documents
// are here. The diagnostics say what is not offered, and why.
func (a *App) withServiceTools(s *spec.Spec, all []engine.Capability) ([]engine.Capability, []profile.Diagnostic, error) {
	if len(s.Services) == 0 {
		return all, nil, nil
	}
	files, err := tool.NewFiles(a.env(s))
	if err != nil {
		return nil, nil, err
	}
	var ds []profile.Diagnostic
	offered := toolNames{taken: takenBy(all)}
	for i := range s.Services {
		e := &s.Services[i]
		c := engine.Capability{Name: e.Name, Summary: "the service of " + e.Does()}
		tools, withheld, err := a.serviceTools(s, e, files)
		if err != nil {
			ds = append(ds, serviceDiagnostic(e, err))
			tools = []tool.Tool{absent{&model.ToolDef{Name: e.Name, Description: c.Summary, Schema: []byte(`{"type":"object"}`)}, err.Error()}}
		}
		for _, w := range withheld {
			ds = append(ds, serviceDiagnostic(e, fmt.Errorf("%s is not offered: %s", w.Name, w.Why)))
			tools = append(tools, absent{&model.ToolDef{Name: w.Name, Schema: []byte(`{"type":"object"}`)}, w.Why})
		}
		c.Tools = tools
		offered.add(&c)
		all = append(all, c)
	}
	offered.resolve(all)
	return all, ds, nil
}

func serviceDiagnostic(e *service.Entry, err error) profile.Diagnostic {
	code := profile.CodeServiceSpec
	if many := (*openapi.TooManyError)(nil); errors.As(err, &many) {
		code = profile.CodeServiceTools
	}
	return profile.Diagnose(code, e.At, e.Item, err.Error(), "")
}

// serviceTools makes the tools of one service.
func (a *App) serviceTools(s *spec.Spec, e *service.Entry, files *tool.Files) ([]tool.Tool, []openapi.Withheld, error) {
	d, err := a.document(e)
	if err != nil {
		return nil, nil, err
	}
	return a.service(e, d, files).Tools()
}

func (a *App) service(e *service.Entry, d *openapi.Document, files *tool.Files) openapi.Service {
	item := trust.OfService(e)
	return openapi.Service{
		Entry: *e, Document: d, Files: files, Lookup: a.lookupEnv, Proxy: a.Config().Web.Proxy.V,
		Gate: func() error { return a.Trust().Gate(item) },
	}
}

// absent stands for what a service does not offer.
type absent struct {
	def *model.ToolDef
	why string
}

func (t absent) Def() *model.ToolDef { return t.def }
func (t absent) Withheld() string    { return t.why }

func (t absent) Prepare(context.Context, tool.Call) (tool.Plan, error) {
	return nil, errors.New(t.why)
}

// takenBy are the names of capabilities and of their tools.
func takenBy(all []engine.Capability) map[string]string {
	taken := map[string]string{}
	for _, g := range contract.Groups() {
		taken[string(g)] = "a group of built-in tools"
	}
	for _, name := range contract.Names() {
		taken[name] = "a built-in tool"
	}
	for i := range all {
		c := &all[i]
		if taken[c.Name] == "" {
			taken[c.Name] = "the capability " + c.Name
		}
		for _, t := range c.Tools {
			if name := t.Def().Name; taken[name] == "" {
				taken[name] = "a tool of " + c.Name
			}
		}
	}
	return taken
}

// toolNames finds names that two services have for their tools, or that are taken: of
// those nobody could tell which is meant, and none is offered.
type toolNames struct {
	taken map[string]string
	whose map[string][]string
}

func (n *toolNames) add(c *engine.Capability) {
	if n.whose == nil {
		n.whose = map[string][]string{}
	}
	for _, t := range c.Tools {
		name := t.Def().Name
		n.whose[name] = append(n.whose[name], c.Name)
	}
}

func (n *toolNames) resolve(all []engine.Capability) {
	for i := range all {
		for j, t := range all[i].Tools {
			name := t.Def().Name
			owners := n.whose[name]
			if !slices.Contains(owners, all[i].Name) {
				continue
			}
			why := ""
			switch {
			case n.taken[name] != "":
				why = fmt.Sprintf("the name %s is that of %s: rename the service %s", name, n.taken[name], all[i].Name)
			case len(owners) > 1:
				why = fmt.Sprintf("the services %s and %s both have a tool %s: rename one", owners[0], owners[1], name)
			default:
				continue
			}
			all[i].Tools[j] = absent{t.Def(), why}
		}
	}
}
