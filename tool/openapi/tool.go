package openapi

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rosterrun/roster/internal/reach"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/service"
	"github.com/rosterrun/roster/tool"
)

// Service is a service whose operations are tools.
type Service struct {
	Entry    service.Entry
	Document *Document
	// Lookup gives what a variable of the environment holds. It is asked for each call.
	Lookup func(name string) (string, bool)
	// Gate says, before each call, whether the entry still has an effect; nil: it has.
	Gate func() error
	// Files are those that may be sent; nil: none.
	Files *tool.Files
	// Proxy is as in reach.NewClient.
	Proxy string

	adjust func(*reach.Guard)
}

// Withheld is an operation that is not offered, and why.
type Withheld struct{ Name, Why string }

// MaxTools is how many operations of a service agents are offered at most: models choose
// badly among more, and providers refuse more than 128 tools.
const MaxTools = 100

// TooManyError says that a service has more operations than are offered.
type TooManyError struct {
	Service string
	Count   int
}

func (e *TooManyError) Error() string {
	return fmt.Sprintf("the service %s has %d operations, and at most %d are offered: choose with operations, tags, paths or methods in its entry (roster openapi list shows them)", e.Service, e.Count, MaxTools)
}

// Tools makes tools of the operations of a service's document. Those that could not be
// called are withheld, each with its reason. The error is a *TooManyError, or says
// what is wrong with the entry.
func (s Service) Tools() (tools []tool.Tool, withheld []Withheld, err error) {
	if n := len(s.Document.Operations); n > MaxTools {
		return nil, nil, &TooManyError{s.Entry.Name, n}
	}
	c, err := s.caller()
	if err != nil {
		return nil, nil, err
	}
	for _, o := range s.Document.Operations {
		t, err := c.tool(o)
		if err != nil {
			withheld = append(withheld, Withheld{ToolName(s.Entry.Name, o.ID), err.Error()})
			continue
		}
		tools = append(tools, t)
	}
	return tools, withheld, nil
}

// Tool makes a tool of one operation.
func (s Service) Tool(o *Operation) (*Call, error) {
	c, err := s.caller()
	if err != nil {
		return nil, err
	}
	return c.tool(o)
}

// caller is what the tools of a service share. It is immutable.
type caller struct {
	Service
	bounds *bounds
	client *reach.Client
}

func (s Service) caller() (*caller, error) {
	b, err := newBounds(&s.Entry)
	if err != nil {
		return nil, fmt.Errorf("the service %s: %w", s.Entry.Name, err)
	}
	client, err := b.client(s.Proxy, s.adjust)
	if err != nil {
		return nil, fmt.Errorf("the service %s: %w", s.Entry.Name, err)
	}
	return &caller{s, b, client}, nil
}

// maxToolName is what all providers take.
const maxToolName = 64

// ToolName is how an operation of a service is offered.
func ToolName(service, id string) string {
	name := service + "_" + id
	if len(name) <= maxToolName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	const digits = 8
	return name[:maxToolName-digits-1] + "_" + hex.EncodeToString(sum[:])[:digits]
}

// Call is the tool of one operation. It implements tool.Tool and tool.Recoverer.
type Call struct {
	*caller
	op  *Operation
	def *model.ToolDef
	at  *url.URL // of the server
}

func (c *caller) tool(o *Operation) (*Call, error) {
	at, err := c.bounds.serverOf(o)
	if err != nil {
		return nil, err
	}
	if o.Method == http.MethodConnect || !isToken(o.Method) {
		return nil, fmt.Errorf("the method %q cannot be called", short(o.Method))
	}
	schema, _ := o.Schema()
	def := &model.ToolDef{Name: ToolName(c.Entry.Name, o.ID), Description: describe(o), Schema: schema}
	if _, err := tool.NewValidator(def); err != nil {
		return nil, err
	}
	return &Call{c, o, def, at}, nil
}

// describe is what a model is told of an operation.
func describe(o *Operation) string {
	text := o.Method + " " + o.Path
	for _, more := range []string{o.Summary, o.Description} {
		if more = strings.TrimSpace(more); more != "" && !strings.Contains(text, more) {
			text += "\n" + more
		}
	}
	if o.Deprecated {
		text += "\nDeprecated."
	}
	return text
}

// Def implements tool.Tool.
func (t *Call) Def() *model.ToolDef { return t.def }

// Recovery implements tool.Recoverer: GET and HEAD ask for something and change nothing.
func (t *Call) Recovery(tool.Call) tool.Recovery {
	if t.op.Method == http.MethodGet || t.op.Method == http.MethodHead {
		return tool.Repeat
	}
	return tool.Unknown
}

// Prepare implements tool.Tool.
func (t *Call) Prepare(_ context.Context, c tool.Call) (tool.Plan, error) {
	return t.plan(c)
}

func (t *Call) plan(c tool.Call) (*plan, error) {
	if t.Gate != nil {
		if err := t.Gate(); err != nil {
			return nil, err
		}
	}
	r, err := t.op.build(t.at, c.Input, t.Files)
	if err != nil {
		return nil, err
	}
	p := &plan{Call: t, req: r, id: c.ID, permit: c.Permit}
	p.marks()
	return p, nil
}

// plan is one call that is ready to be judged.
type plan struct {
	*Call
	req    *request
	id     string
	permit *permission.Engine
	plain  bool // the answer is for a person
}

// subject is what rules see of a request.
func subject(method string, u *url.URL) string { return method + " " + u.String() }

// Needs implements tool.Plan.
func (p *plan) Needs() []permission.Query {
	needs := []permission.Query{{Tool: p.def.Name, Subject: subject(p.req.method, p.req.url)}}
	if p.req.body != nil {
		for _, f := range p.req.body.files {
			needs = append(needs, f.Needs()...)
		}
	}
	return needs
}

// State implements tool.Stater: the files that are to be sent, as they are now.
func (p *plan) State() string {
	if p.req.body == nil {
		return ""
	}
	var all []string
	for _, f := range p.req.body.files {
		all = append(all, f.State())
	}
	return strings.Join(all, "\n")
}

// Close implements tool.Plan.
func (p *plan) Close() error { return p.req.close() }

const usualIdempotencyHeader = "Idempotency-Key"

// marks names a call that changes something, so that a service which knows the header
// does not do it twice.
func (p *plan) marks() {
	name := cmp.Or(p.Entry.IdempotencyHeader, usualIdempotencyHeader)
	if p.id == "" || name == "none" || !changes(p.req.method) || p.req.header.Get(name) != "" {
		return
	}
	p.req.header.Set(name, p.id)
}

// Run implements tool.Plan.
func (p *plan) Run(ctx context.Context, progress func(string)) (tool.Result, error) {
	timeout := cmp.Or(p.Entry.Timeout, service.DefaultTimeout)
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if progress != nil {
		progress(subject(p.req.method, p.req.url))
	}
	r, err := p.run(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("%s did not answer within %v%s", p.req.url.Host, timeout, p.doubt())
	}
	return r, err
}

// doubt says of a call that was sent and not answered what is to be known.
func (p *plan) doubt() string {
	if changes(p.req.method) {
		return "; whether it was done is not known"
	}
	return ""
}

// run sends the request, and for what only asks follows redirects within what the
// user named.
func (p *plan) run(ctx context.Context) (tool.Result, error) {
	if p.Gate != nil {
		if err := p.Gate(); err != nil {
			return tool.Result{}, err
		}
	}
	cred, err := p.Document.credentials(&p.Entry, p.op, p.Lookup)
	if err != nil {
		return tool.Result{}, err
	}
	var body []byte
	if p.req.body != nil {
		if body, err = p.req.body.bytes(); err != nil {
			return tool.Result{}, err
		}
	}
	u := p.req.url
	const maxRedirects = 5
	for range maxRedirects {
		res, err := p.send(ctx, u, cred, body)
		if err != nil {
			return tool.Result{}, cred.hideError(err)
		}
		to := leads(u, res)
		if to == nil || changes(p.req.method) {
			return p.answer(u, res, cred)
		}
		res.Body.Close()
		if err := p.follow(u, to); err != nil {
			return tool.Result{}, cred.hideError(err)
		}
		u = to
	}
	return tool.Result{}, fmt.Errorf("%s leads on and on; nothing came after %d redirects", p.req.url, maxRedirects)
}

// follow judges where a redirect leads.
func (p *plan) follow(from, to *url.URL) error {
	switch {
	case !p.bounds.holds(to):
		return fmt.Errorf("%s leads to %s, which is no host of the service %s; nothing was sent there", from, to, p.Entry.Name)
	case from.Scheme == "https" && to.Scheme == "http":
		return fmt.Errorf("%s leads to %s, where others could read it; nothing was sent there", from, to)
	case to.String() == p.req.url.String():
		return nil // it was permitted
	}
	d := p.permit.Decide(permission.Query{Tool: p.def.Name, Subject: subject(p.req.method, to)})
	if d.Effect != permission.Allow && !p.near(to) {
		return fmt.Errorf("%s leads to %s, which nobody has permitted: %s", from, to, cmp.Or(d.Reason, "it would have to be asked for"))
	}
	return nil
}

// near says that an address is the one that was permitted, written in another way: with
// a slash at its end, or in the same place over https.
func (p *plan) near(to *url.URL) bool {
	a, b := *p.req.url, *to
	if a.Hostname() != b.Hostname() || a.RawQuery != b.RawQuery || a.Port() != b.Port() {
		return false
	}
	return strings.TrimSuffix(a.EscapedPath(), "/") == strings.TrimSuffix(b.EscapedPath(), "/")
}

func (p *plan) send(ctx context.Context, u *url.URL, cred *shown, body []byte) (*http.Response, error) {
	to, header, err := cred.onto(u, p.req.headers(), p.req.cookies)
	if err != nil {
		return nil, err
	}
	req, err := newRequest(ctx, p.req.method, to, header, body)
	if err != nil {
		return nil, err
	}
	return p.client.Do(req)
}

// leads is where a response leads, in the form in which it is judged; nil: nowhere.
func leads(from *url.URL, res *http.Response) *url.URL {
	where := res.Header.Get("Location")
	moved := []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect}
	if where == "" || !slices.Contains(moved, res.StatusCode) {
		return nil
	}
	to, err := from.Parse(where)
	if err != nil {
		return &url.URL{Scheme: "unreadable"}
	}
	if clean, err := normal(to); err == nil {
		return clean
	}
	return &url.URL{Scheme: "unreadable", Host: to.Hostname()}
}
