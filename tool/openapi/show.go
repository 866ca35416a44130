package openapi

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/rosterrun/roster/service"
	"github.com/rosterrun/roster/tool"
)

// Request is what a call would send. In the place of what variables hold it has their
// names in brackets.
type Request struct {
	Method string            `json:"method"`
	URL    string            `json:"url"`
	Header map[string]string `json:"header"`
	Body   string            `json:"body,omitempty"` // files by their names
}

// Request gives what a call would send. It reads no variable and sends nothing.
func (t *Call) Request(c tool.Call) (*Request, error) {
	p, err := t.plan(c)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	var coded []string // what stands for a variable in another notation, and its name
	cred, err := t.Document.credentials(&t.Entry, t.op, func(name string) (string, bool) {
		v := "[" + name + "]"
		for _, a := range t.Entry.Auth {
			if a.Variable == name && a.Kind == service.Basic {
				coded = append(coded, base64.StdEncoding.EncodeToString([]byte(v+":")), v)
				v += ":"
			}
		}
		coded = append(coded, escape(v, false), v)
		return v, true
	})
	if err != nil {
		return nil, err
	}
	to, header, err := cred.onto(p.req.url, p.req.headers(), p.req.cookies)
	if err != nil {
		return nil, err
	}
	named := strings.NewReplacer(coded...)
	r := &Request{Method: p.req.method, URL: named.Replace(to.String()), Header: map[string]string{}}
	for name, v := range header {
		r.Header[name] = named.Replace(strings.Join(v, ", "))
	}
	if p.req.body != nil {
		r.Body = p.req.body.shown()
	}
	return r, nil
}

// shown is a body for people.
func (p *payload) shown() string {
	var parts []string
	for _, part := range p.pieces {
		text := string(part.data)
		if part.file != nil {
			text = fmt.Sprintf("[the file %s, %d bytes]", part.file.Subject, part.file.Size)
		}
		if p.form != nil {
			kind := ""
			if part.kind != "" {
				kind = " (" + part.kind + ")"
			}
			text = part.name + kind + ": " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n")
}

// Answer runs a call for a person, who is told what came without the fence that models
// are. What it needs is not judged.
func (t *Call) Answer(ctx context.Context, c tool.Call) (tool.Result, error) {
	p, err := t.plan(c)
	if err != nil {
		return tool.Result{}, err
	}
	defer p.Close()
	p.plain = true
	return p.Run(ctx, nil)
}
