// Package web has the tools that look at the web: webfetch and websearch. They
// reach public addresses alone, unless the user allows others, and what they
// bring is fenced as data.
package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/rosterrun/roster/internal/reach"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/contract"
)

// The names of the tools.
const (
	FetchName  = "webfetch"
	SearchName = "websearch"
)

// maxPage bounds max-size: a page is held in memory.
const maxPage = 64 << 20

// NewFetch returns webfetch. The error is one of its settings or of the reach.
func NewFetch(settings json.RawMessage, r Reach) (tool.Tool, error) {
	t := &fetchTool{def: tool.Define(FetchName, settings)}
	err := contract.Read(FetchName, settings, contract.Into{"timeout": &t.timeout, "max-timeout": &t.maxTimeout, "max-size": &t.maxSize})
	if err == nil && t.maxSize > maxPage {
		err = &tool.SettingError{Tool: FetchName, Key: "max-size", Problem: fmt.Sprintf("%d is more than %d bytes, the most that a page may have", t.maxSize, maxPage)}
	}
	if err != nil {
		return nil, err
	}
	t.client, err = r.client()
	return t, err
}

type fetchTool struct {
	def                 *model.ToolDef
	timeout, maxTimeout time.Duration
	maxSize             int // bytes
	client              *reach.Client
}

func (t *fetchTool) Def() *model.ToolDef { return t.def }

// Recovery implements tool.Recoverer: GET asks for something and does nothing.
func (t *fetchTool) Recovery(tool.Call) tool.Recovery { return tool.Repeat }

func (t *fetchTool) Prepare(_ context.Context, c tool.Call) (tool.Plan, error) {
	var in struct {
		URL     string          `json:"url"`
		Timeout json.RawMessage `json:"timeout"`
	}
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return nil, fmt.Errorf("the input cannot be read: %w", err)
	}
	u, err := parseURL(in.URL)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	timeout := t.timeout
	if len(in.Timeout) > 0 {
		if timeout, err = contract.ParseSpan(in.Timeout); err != nil {
			return nil, fmt.Errorf("timeout: %w", err)
		}
	}
	if timeout > t.maxTimeout {
		return nil, fmt.Errorf("timeout: %v is more than the maximum, which is %v", timeout, t.maxTimeout)
	}
	return &fetchPlan{t, u, timeout, c.Permit}, nil
}

type fetchPlan struct {
	tool    *fetchTool
	url     *url.URL
	timeout time.Duration
	permit  *permission.Engine
}

func (p *fetchPlan) Needs() []permission.Query { return needs(p.url) }

func needs(u *url.URL) []permission.Query {
	return []permission.Query{{Tool: FetchName, Subject: u.String()}}
}

func (p *fetchPlan) Close() error { return nil }

func (p *fetchPlan) Run(ctx context.Context, progress func(string)) (tool.Result, error) {
	limited, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	r, err := p.fetch(limited, progress)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return r, fmt.Errorf("%s did not come within %v", p.url, p.timeout)
	}
	return r, err
}

// fetch follows redirects, each of which is judged as if it had been called.
func (p *fetchPlan) fetch(ctx context.Context, progress func(string)) (tool.Result, error) {
	u := p.url
	for range maxRedirects {
		if progress != nil {
			progress(u.String())
		}
		res, err := get(ctx, p.tool.client, u)
		if err != nil {
			return tool.Result{}, err
		}
		to, err := redirect(u, res)
		if to == nil && err == nil {
			return p.page(ctx, u, res)
		}
		res.Body.Close()
		if err != nil {
			return tool.Result{}, err
		}
		if err := p.follow(u, to); err != nil {
			return tool.Result{}, err
		}
		u = to
	}
	return tool.Result{}, fmt.Errorf("%s leads on and on; nothing came after %d redirects", p.url, maxRedirects)
}

// follow judges a redirect. What would have to be asked for is left to a call of
// its own, which a person can be asked about.
func (p *fetchPlan) follow(from, to *url.URL) error {
	if to.String() == p.url.String() {
		return nil // it was permitted
	}
	switch d := p.permit.Decide(needs(to)...); d.Effect {
	case permission.Allow:
		return nil
	case permission.Ask:
		return fmt.Errorf("%s leads to %s, which is another address to ask for: call %s with it if it is the right one", from, to, FetchName)
	default:
		return fmt.Errorf("%s leads to %s, which is not permitted: %s", from, to, d.Reason)
	}
}

func (p *fetchPlan) page(ctx context.Context, u *url.URL, res *http.Response) (tool.Result, error) {
	defer res.Body.Close()
	b, err := reach.Read(res, p.tool.maxSize)
	if err != nil && len(b.Data) == 0 {
		return tool.Result{}, fmt.Errorf("%s: %w", u, unwrapped(err))
	}
	parts, failed := render(ctx, u, res, b)
	if failed != nil {
		return tool.Result{}, failed
	}
	if err != nil { // what came before it broke off is not thrown away
		parts = append(parts, text(fmt.Sprintf("[the page broke off: %v]", unwrapped(err)))...)
	}
	return tool.Result{Parts: parts, Error: err != nil || res.StatusCode/100 != 2}, nil
}

func unwrapped(err error) error {
	if inner := (*url.Error)(nil); errors.As(err, &inner) {
		return inner.Err
	}
	return err
}
