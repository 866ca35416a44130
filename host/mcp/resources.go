package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/session"
)

const (
	sessionsAt   = "roster://sessions/"
	messagesTail = "/messages"
	markdownType = "text/markdown"
	jsonType     = "application/json"

	pageSize    = 100     // sessions in one answer
	maxComplete = 100     // values of a completion, as the protocol says
	maxRead     = 8 << 20 // bytes of a session that a client is given
)

func sessionURI(id string) string { return sessionsAt + id }

// addTemplates says which resources there are besides those that are listed.
func (s *Server) addTemplates() {
	s.mcp.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "session", Title: "A session", URITemplate: sessionsAt + "{id}", MIMEType: markdownType,
		Description: "What was said in a session, to read.",
	}, s.read)
	s.mcp.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "session-messages", Title: "The messages of a session", URITemplate: sessionsAt + "{id}" + messagesTail, MIMEType: jsonType,
		Description: "A session with its messages and the calls of its tools, for programs.",
	}, s.read)
}

// listSessions answers resources/list from the store, page by page: the sessions
// are many, and the library's list is kept in memory.
func (s *Server) listSessions(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		list, ok := req.(*sdk.ListResourcesRequest)
		if !ok || method != "resources/list" {
			return next(ctx, method, req)
		}
		query := session.Query{Limit: pageSize + 1} // one more tells whether there are more
		if list.Params != nil && list.Params.Cursor != "" {
			if query.Before = list.Params.Cursor; !sessionID(query.Before) {
				return nil, invalid("the cursor is none that this server gave")
			}
		}
		store, err := s.opts.Host.Backend(ctx)
		if err != nil {
			return nil, err
		}
		res := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}}
		res.CacheScope = cachePrivate
		last := ""
		for sum, err := range store.List(ctx, s.opts.Caller.Tenant, query) {
			if err != nil {
				return nil, err
			}
			if len(res.Resources) == pageSize {
				res.NextCursor = last
				break
			}
			last = sum.Key.Stream
			res.Resources = append(res.Resources, resourceOf(&sum))
		}
		return res, nil
	}
}

func resourceOf(sum *session.Summary) *sdk.Resource {
	v := view.NewSession(sum)
	return &sdk.Resource{
		URI: sessionURI(v.ID), Name: v.ID, Title: v.Title, MIMEType: markdownType,
		Description: fmt.Sprintf("%s, %s, turns %d", v.Profile, v.Status, v.Turns),
		Annotations: &sdk.Annotations{LastModified: v.Updated.UTC().Format(time.RFC3339)},
	}
}

func invalid(why string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: why}
}

// sessionOf is the session that an address names, which may be one that another
// delegated to.
func (s *Server) sessionOf(uri string) (k session.Key, id string, asJSON, ok bool) {
	id, ok = strings.CutPrefix(uri, sessionsAt)
	if !ok {
		return k, "", false, false
	}
	id, asJSON = strings.CutSuffix(id, messagesTail)
	k = session.Key{Tenant: s.opts.Caller.Tenant, Stream: session.StreamOf(id)}
	return k, id, asJSON, sessionID(k.Stream) && len(id) <= maxID && !strings.ContainsAny(id, "/?#%")
}

const maxID = 128 // bytes of the id of a session

// read answers with a session.
func (s *Server) read(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	k, id, asJSON, ok := s.sessionOf(uri)
	if !ok {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	store, err := s.opts.Host.Backend(ctx)
	if err != nil {
		return nil, err
	}
	c, err := view.ReadConversation(ctx, store, k, id, true)
	if errors.Is(err, session.ErrNoStream) {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	if err != nil {
		return nil, err
	}
	out := &sdk.ResourceContents{URI: uri, MIMEType: markdownType}
	if asJSON {
		data, err := json.Marshal(c)
		if err != nil {
			return nil, err
		}
		if len(data) > maxRead {
			return nil, fmt.Errorf("session %s has %d bytes of messages, more than the %d that are given here: roster sessions export %s writes them to a file", id, len(data), maxRead, k.Stream)
		}
		out.MIMEType, out.Text = jsonType, string(data)
	} else {
		out.Text = markdown(c, maxRead)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{out}}, nil
}

// complete completes the id in the address of a session, with the newest first.
func (s *Server) complete(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	res := &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}
	p := req.Params
	if p.Ref == nil || !strings.HasPrefix(p.Ref.URI, sessionsAt) || p.Argument.Name != "id" {
		return res, nil
	}
	store, err := s.opts.Host.Backend(ctx)
	if err != nil {
		return nil, err
	}
	const looked = 10_000 // of the newest
	for sum, err := range store.List(ctx, s.opts.Caller.Tenant, session.Query{Limit: looked}) {
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(sum.Key.Stream, p.Argument.Value) {
			continue
		}
		if len(res.Completion.Values) == maxComplete {
			res.Completion.HasMore = true
			break
		}
		res.Completion.Values = append(res.Completion.Values, sum.Key.Stream)
	}
	return res, nil
}
