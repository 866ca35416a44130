package roster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/service"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/openapi"
)

// OperationCall is a call of an operation by a person.
type OperationCall struct {
	// Service is the name of a service of roster.yaml or of Profile, or the path of an
	// OpenAPI document.
	Service   string
	Profile   string // whose services are meant; empty: those of roster.yaml
	Operation string // its id
	Input     []byte // JSON; empty: {}
	// Server and Hosts are, of a document, where the operation is and where else
	// requests may go.
	Server string
	Hosts  []string
}

// OperationAnswer is what came of it.
type OperationAnswer struct {
	Text string `json:"text"`
	// Failed says that the service did not do it: by its status, or that it broke off.
	Failed bool `json:"failed"`
}

// CallOperation calls an operation as an agent's tool would. Nobody is asked: who calls
// it wants it.
func (a *App) CallOperation(ctx context.Context, c OperationCall) (*OperationAnswer, error) {
	t, call, err := a.operation(ctx, c, true)
	if err != nil {
		return nil, err
	}
	r, err := t.Answer(ctx, call)
	if err != nil {
		return nil, err
	}
	text := message.PartsText(r.Parts)
	for _, p := range r.Parts {
		if i, ok := p.(message.Image); ok {
			text += fmt.Sprintf("\n[an image, %s, %d bytes]", i.MediaType, len(i.Data))
		}
	}
	return &OperationAnswer{a.redact(text), r.Error}, nil
}

// RequestOf gives what CallOperation would send. It fetches, sends and reads nothing
// but the document.
func (a *App) RequestOf(ctx context.Context, c OperationCall) (*openapi.Request, error) {
	t, call, err := a.operation(ctx, c, false)
	if err != nil {
		return nil, err
	}
	return t.Request(call)
}

// operation makes the tool of an operation, and checks the input.
func (a *App) operation(ctx context.Context, c OperationCall, fetch bool) (*openapi.Call, tool.Call, error) {
	if len(c.Input) == 0 {
		c.Input = []byte("{}")
	}
	e, err := a.serviceEntry(ctx, c)
	if err != nil {
		return nil, tool.Call{}, err
	}
	e.Operations, e.Tags, e.Paths, e.Methods = []string{c.Operation}, nil, nil, nil
	if fetch && e.Remote() {
		if err := a.fetchDocument(ctx, e); err != nil {
			return nil, tool.Call{}, fmt.Errorf("the document of the service %s: %w", e.Name, err)
		}
	}
	d, err := a.document(e)
	if none := (*noneChosenError)(nil); errors.As(err, &none) {
		return nil, tool.Call{}, a.noOperation(e, c.Operation)
	} else if err != nil {
		return nil, tool.Call{}, err
	}
	o := d.Operations[0]
	if i := slices.IndexFunc(d.Operations, func(o *openapi.Operation) bool { return o.ID == c.Operation }); i >= 0 {
		o = d.Operations[i]
	}
	files, err := tool.NewFiles(a.env(&spec.Spec{Workspace: a.dir}))
	if err != nil {
		return nil, tool.Call{}, err
	}
	t, err := a.service(e, d, files).Tool(o)
	if host := (*openapi.HostError)(nil); errors.As(err, &host) && e.At.File == "" {
		return nil, tool.Call{}, fmt.Errorf("the operation is at %s, and requests go only where you say: add --host %s, or --server with an address", host.Host, host.Host)
	} else if err != nil {
		return nil, tool.Call{}, err
	}
	v, err := tool.NewValidator(t.Def())
	if err != nil {
		return nil, tool.Call{}, err
	}
	if err := v.Validate(c.Input); err != nil {
		return nil, tool.Call{}, err
	}
	permit, err := permission.Compile(permission.Layers{Rules: []permission.Rule{{Tool: t.Def().Name, Subject: "*", Effect: permission.Allow}}})
	return t, tool.Call{ID: clock.From(ctx).ID(), Input: c.Input, Permit: permit}, err
}

// noOperation says that a document has no such operation, and what it has.
func (a *App) noOperation(e *service.Entry, id string) error {
	all := *e
	all.Operations = nil
	d, err := a.document(&all)
	if err != nil {
		return err
	}
	var names []string
	for _, o := range d.Operations {
		names = append(names, o.ID)
	}
	hint := "roster openapi list shows those that there are"
	if near := profile.Nearest(id, names, 1); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %q?", near[0])
	}
	return fmt.Errorf("%s has no operation %q (%s)", e.Does(), id, hint)
}

// serviceEntry finds what is meant by the name of a service.
func (a *App) serviceEntry(ctx context.Context, c OperationCall) (*service.Entry, error) {
	list := a.Config().Services
	if c.Profile != "" {
		s, _, err := a.Resolve(ctx, c.Profile, session.Overrides{})
		if err != nil {
			return nil, err
		}
		list = s.Services
	}
	names := make([]string, len(list))
	for i := range list {
		if names[i] = list[i].Name; names[i] == c.Service {
			if c.Server != "" || len(c.Hosts) > 0 {
				return nil, fmt.Errorf("the service %s says itself where it is: leave --server and --host out, or name its document", c.Service)
			}
			e := list[i]
			return &e, nil
		}
	}
	path, err := filepath.Abs(c.Service)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		hint := ""
		if near := profile.Nearest(c.Service, names, 1); len(near) > 0 {
			hint = fmt.Sprintf(" (did you mean %q?)", near[0])
		}
		return nil, fmt.Errorf("%q is neither a service with an effect here nor the path of a document%s", c.Service, hint)
	}
	e := &service.Entry{Name: "document", Spec: path, Server: c.Server, Hosts: c.Hosts}
	return e, e.Check()
}
