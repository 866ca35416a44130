package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rosterrun/roster/message"
)

// Prompt is a prompt with a name, as clients are told of it.
type Prompt struct {
	Name, Description string
	// Arguments are the names of what it takes, all of them optional.
	Arguments []string
}

// ErrNoPrompt is returned by Options.Prompt for a name that there is not.
var ErrNoPrompt = errors.New("no such prompt")

// maxPrompts bounds one answer with prompts.
const maxPrompts = 1000

// prompts answers prompts/list and prompts/get: what there is stands in files, and
// is read anew each time.
func (s *Server) prompts(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch r := req.(type) {
		case *sdk.ListPromptsRequest:
			if method == "prompts/list" {
				return s.listPrompts(ctx, r)
			}
		case *sdk.GetPromptRequest:
			if method == "prompts/get" {
				return s.getPrompt(ctx, r)
			}
		}
		return next(ctx, method, req)
	}
}

// listPrompts gives the prompts by name. The cursor is the last name of the page
// before.
func (s *Server) listPrompts(ctx context.Context, req *sdk.ListPromptsRequest) (sdk.Result, error) {
	res := &sdk.ListPromptsResult{Prompts: []*sdk.Prompt{}}
	res.CacheScope = cachePrivate
	after := ""
	if req.Params != nil {
		after = req.Params.Cursor
	}
	for _, p := range s.opts.Prompts(ctx) {
		if p.Name <= after {
			continue
		}
		if len(res.Prompts) == maxPrompts {
			res.NextCursor = res.Prompts[maxPrompts-1].Name
			break
		}
		one := &sdk.Prompt{Name: p.Name, Description: cut(p.Description, maxDescription)}
		if one.Description == "" {
			one.Description = "The command /" + p.Name + "."
		}
		for _, name := range p.Arguments {
			one.Arguments = append(one.Arguments, &sdk.PromptArgument{Name: name})
		}
		res.Prompts = append(res.Prompts, one)
	}
	return res, nil
}

// getPrompt gives a prompt with its arguments in their places.
func (s *Server) getPrompt(ctx context.Context, req *sdk.GetPromptRequest) (sdk.Result, error) {
	parts, err := s.opts.Prompt(ctx, req.Params.Name, req.Params.Arguments)
	switch {
	case errors.Is(err, ErrNoPrompt):
		return nil, invalid(fmt.Sprintf("unknown prompt %q", cut(req.Params.Name, 100)))
	case err != nil:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	res := &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{}}
	say := func(c sdk.Content) {
		res.Messages = append(res.Messages, &sdk.PromptMessage{Role: "user", Content: c})
	}
	for _, p := range parts {
		switch p := p.(type) {
		case message.Text:
			say(&sdk.TextContent{Text: p.Text})
		case message.Image:
			say(&sdk.ImageContent{MIMEType: p.MediaType, Data: slices.Clone(p.Data)})
		}
	}
	return res, nil
}
