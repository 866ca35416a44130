package mcp

import (
	"context"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rosterrun/roster/message"
)

// maxList bounds a list of resources or prompts of a server.
const maxList = 1000

// Resource is something that a server lets be read. Its texts are bounded.
type Resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MediaType   string `json:"media_type,omitempty"`
	Size        int64  `json:"size,omitempty"` // in bytes; 0: not known
}

// Template is a pattern of URIs that can be read, by RFC 6570.
type Template struct {
	URI         string `json:"uri_template"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MediaType   string `json:"media_type,omitempty"`
}

// Prompt is a text that a server has ready to be sent to a model.
type Prompt struct {
	Name        string     `json:"name"`
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description,omitempty"`
	Arguments   []Argument `json:"arguments,omitempty"`
}

// Argument is one of a Prompt.
type Argument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// Message is one of those that a Prompt is made of. Parts are Text and Image.
type Message struct {
	Role  message.Role
	Parts []message.Part
}

// Resources lists what the server lets be read: at most 1,000, and whether there are
// more. A server without any has none.
func (c *Client) Resources(ctx context.Context) (list []Resource, more bool, err error) {
	err = c.ask(ctx, func(ctx context.Context, s *session) error {
		if caps := s.sdk.InitializeResult().Capabilities; caps == nil || caps.Resources == nil {
			return nil
		}
		var params sdk.ListResourcesParams
		list = nil
		var err error
		more, err = pages(func() (string, error) {
			page, err := s.sdk.ListResources(ctx, &params)
			if err != nil {
				return "", err
			}
			list = gather(list, page.Resources, resourceOf)
			params.Cursor = page.NextCursor
			return params.Cursor, nil
		}, func() bool { return len(list) > maxList })
		list = list[:min(len(list), maxList)]
		return err
	})
	return list, more, err
}

// Templates lists the patterns of what the server lets be read, as Resources does.
func (c *Client) Templates(ctx context.Context) (list []Template, more bool, err error) {
	err = c.ask(ctx, func(ctx context.Context, s *session) error {
		if caps := s.sdk.InitializeResult().Capabilities; caps == nil || caps.Resources == nil {
			return nil
		}
		var params sdk.ListResourceTemplatesParams
		list = nil
		var err error
		more, err = pages(func() (string, error) {
			page, err := s.sdk.ListResourceTemplates(ctx, &params)
			if err != nil {
				return "", err
			}
			list = gather(list, page.ResourceTemplates, templateOf)
			params.Cursor = page.NextCursor
			return params.Cursor, nil
		}, func() bool { return len(list) > maxList })
		list = list[:min(len(list), maxList)]
		return err
	})
	return list, more, err
}

// ReadResource reads one: texts and images, bounded as results of tools are.
func (c *Client) ReadResource(ctx context.Context, uri string) (parts []message.Part, err error) {
	err = c.ask(ctx, func(ctx context.Context, s *session) error {
		r, err := s.sdk.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			return err
		}
		b := &builder{left: maxText}
		for _, x := range r.Contents {
			b.resource(x)
		}
		parts = b.parts()
		return nil
	})
	return parts, err
}

// Prompts lists the prompts that the server has, as Resources does.
func (c *Client) Prompts(ctx context.Context) (list []Prompt, more bool, err error) {
	err = c.ask(ctx, func(ctx context.Context, s *session) error {
		if caps := s.sdk.InitializeResult().Capabilities; caps == nil || caps.Prompts == nil {
			return nil
		}
		var params sdk.ListPromptsParams
		list = nil
		var err error
		more, err = pages(func() (string, error) {
			page, err := s.sdk.ListPrompts(ctx, &params)
			if err != nil {
				return "", err
			}
			list = gather(list, page.Prompts, promptOf)
			params.Cursor = page.NextCursor
			return params.Cursor, nil
		}, func() bool { return len(list) > maxList })
		list = list[:min(len(list), maxList)]
		return err
	})
	return list, more, err
}

func promptOf(p *sdk.Prompt) Prompt {
	out := Prompt{Name: p.Name, Title: line(p.Title, maxTitle), Description: clean(p.Description, maxDescription)}
	for _, a := range p.Arguments {
		if a != nil && len(out.Arguments) < maxTitle {
			out.Arguments = append(out.Arguments, Argument{a.Name, line(a.Description, maxLine), a.Required})
		}
	}
	return out
}

// Prompt gets a prompt with its arguments filled in.
func (c *Client) Prompt(ctx context.Context, name string, arguments map[string]string) (list []Message, err error) {
	err = c.ask(ctx, func(ctx context.Context, s *session) error {
		r, err := s.sdk.GetPrompt(ctx, &sdk.GetPromptParams{Name: name, Arguments: arguments})
		if err != nil {
			return err
		}
		b := &builder{left: maxText}
		list = nil
		for _, m := range r.Messages {
			if m == nil || m.Content == nil || len(list) >= maxList {
				continue
			}
			role := message.User
			if m.Role == "assistant" {
				role = message.Assistant
			}
			b.list, b.texts = nil, nil
			b.content(m.Content)
			list = append(list, Message{role, b.parts()})
		}
		return nil
	})
	return list, err
}

// pages reads a list page by page, until it is full: next gives the cursor of the
// one that comes next. It says whether there is more.
func pages(next func() (string, error), full func() bool) (more bool, err error) {
	for range maxPages {
		cursor, err := next()
		if cursor == "" || err != nil || full() {
			return full(), err
		}
	}
	return true, nil
}

// gather adds what a server has listed, up to one more than a list may have.
func gather[From, To any](list []To, from []*From, to func(*From) To) []To {
	for _, x := range from {
		if x != nil && len(list) <= maxList {
			list = append(list, to(x))
		}
	}
	return list
}

func resourceOf(r *sdk.Resource) Resource {
	return Resource{r.URI, line(r.Name, maxTitle), line(r.Title, maxTitle), clean(r.Description, maxDescription), line(r.MIMEType, maxTitle), r.Size}
}

func templateOf(r *sdk.ResourceTemplate) Template {
	return Template{r.URITemplate, line(r.Name, maxTitle), line(r.Title, maxTitle), clean(r.Description, maxDescription), line(r.MIMEType, maxTitle)}
}

// ask does something in a connection, for as long as a call may last. What is asked
// has no effect, so it is asked once more where the connection was lost.
func (c *Client) ask(ctx context.Context, f func(context.Context, *session) error) error {
	defer c.hold()()
	limited, cancel := context.WithTimeout(ctx, c.server.timeout())
	defer cancel()
	for attempt := 0; ; attempt++ {
		s, err := c.connected(limited)
		if err != nil {
			return err
		}
		sent := &sending{}
		in, done := context.WithCancel(sent.in(limited))
		stop := context.AfterFunc(s.ctx, done)
		err = f(in, s)
		stop()
		done()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case limited.Err() != nil:
			s.doubt()
			return fmt.Errorf("the MCP server %s did not answer within %v", c.server.Name, c.server.timeout())
		case attempt == 0 && (s.forgotten(err, sent) || s.over()):
			if err := c.renew(limited, s, errForgotten); err != nil {
				return err
			}
		default:
			return fmt.Errorf("the MCP server %s: %w", c.server.Name, s.plainly(err))
		}
	}
}

// over says whether the connection has ended.
func (s *session) over() bool {
	select {
	case <-s.ended:
		return true
	case <-s.ctx.Done():
		return true
	default:
		return false
	}
}
