package openai

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

type wireMessage struct {
	Role       string                    `json:"role"`
	Content    jsontext.Value            `json:"content"`
	Refusal    *string                   `json:"refusal"`
	ToolCalls  []wireCall                `json:"tool_calls"`
	ToolCallID *string                   `json:"tool_call_id"`
	Rest       map[string]jsontext.Value `json:",embed"`
}

type wireCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function *struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	Rest map[string]jsontext.Value `json:",embed"`
}

type wirePart struct {
	Type     string  `json:"type"`
	Text     *string `json:"text"`
	Refusal  *string `json:"refusal"`
	ImageURL *struct {
		URL  string                    `json:"url"`
		Rest map[string]jsontext.Value `json:",embed"`
	} `json:"image_url"`
	Rest map[string]jsontext.Value `json:",embed"`
}

// conversation gathers what was said.
type conversation struct {
	said    []session.BranchMessage
	system  []string
	ignored map[string]bool

	open map[string]int // calls of the last answer without a result → their places
	last []message.ToolCall
	got  []message.Part // their results, in the order of the calls
}

// read takes the messages in. The last one has to be of a user or a tool.
func (c *conversation) read(list []wireMessage) error {
	if len(list) == 0 {
		return missing("messages", "say what the agent is to do")
	}
	for i := range list {
		if err := c.take(fmt.Sprintf("messages[%d]", i), &list[i]); err != nil {
			return err
		}
	}
	if err := c.answered("messages"); err != nil {
		return err
	}
	if len(c.said) == 0 {
		return invalid("messages", "has no message of a user")
	}
	if c.said[len(c.said)-1].Role == message.Assistant {
		return invalid("messages", "must end with a message of a user, or with the results of tool calls: what the assistant began to say is not gone on with")
	}
	return nil
}

func (c *conversation) take(at string, m *wireMessage) error {
	ignore(c.ignored, "messages.", m.Rest)
	if m.Role == "tool" {
		return c.result(at, m)
	}
	if err := c.answered(at); err != nil {
		return err
	}
	parts, err := c.content(at+".content", m.Content, m.Role == "user")
	if err != nil {
		return err
	}
	switch m.Role {
	case "system", "developer":
		if text := message.PartsText(parts); text != "" {
			c.system = append(c.system, text)
		}
	case "user":
		if len(parts) == 0 {
			return missing(at+".content", "say something")
		}
		c.add(message.User, parts)
	case "assistant":
		return c.answer(at, m, parts)
	default:
		return invalid(at+".role", "must be system, developer, user, assistant or tool, not "+quote(m.Role))
	}
	return nil
}

func (c *conversation) add(role message.Role, parts []message.Part) {
	c.said = append(c.said, session.BranchMessage{Role: role, Parts: parts})
}

// answer takes in what the assistant said, and called for. One that says nothing at
// all is left out.
func (c *conversation) answer(at string, m *wireMessage, parts []message.Part) error {
	if m.Refusal != nil && *m.Refusal != "" {
		parts = append(parts, message.Text{Text: *m.Refusal})
	}
	c.open, c.last = map[string]int{}, nil
	for i, call := range m.ToolCalls {
		at := fmt.Sprintf("%s.tool_calls[%d]", at, i)
		if call.Type != "function" || call.Function == nil {
			return invalid(at, "must be of type function, with the member function")
		}
		if _, twice := c.open[call.ID]; call.ID == "" || twice {
			return invalid(at+".id", "must be there, and another one for each call")
		}
		if !toolName(call.Function.Name) {
			return invalid(at+".function.name", "is not the name of a tool: "+quote(call.Function.Name))
		}
		made := message.ToolCall{ID: call.ID, Name: call.Function.Name, Input: bytes.TrimSpace([]byte(call.Function.Arguments))}
		if len(made.Input) == 0 {
			made.Input = []byte("{}")
		}
		made.Invalid = !jsontext.Value(made.Input).IsValid()
		c.open[call.ID] = i
		c.last = append(c.last, made)
		parts = append(parts, made)
	}
	c.got = make([]message.Part, len(c.last))
	if len(parts) > 0 {
		c.add(message.Assistant, parts)
	}
	return nil
}

// result takes in what came of a call.
func (c *conversation) result(at string, m *wireMessage) error {
	id := ""
	if m.ToolCallID != nil {
		id = *m.ToolCallID
	}
	place, ok := c.open[id]
	if !ok {
		return invalid(at+".tool_call_id", "must name a call of the assistant's message before that has no result yet, not "+quote(id))
	}
	parts, err := c.content(at+".content", m.Content, false)
	if err != nil {
		return err
	}
	delete(c.open, id)
	c.got[place] = message.ToolResult{Call: id, Name: c.last[place].Name, Parts: parts}
	if len(c.open) == 0 {
		c.add(message.Tool, c.got)
		c.got = nil
	}
	return nil
}

// answered says that no call is left without its result.
func (c *conversation) answered(at string) error {
	for id := range c.open {
		return invalid(at, "leaves a tool call without its result: each call of an assistant's message must be followed by a message of the role tool with its tool_call_id, and "+quote(id)+" is not")
	}
	return nil
}

// content reads a text, or a list of parts. Empty texts are left out.
func (c *conversation) content(at string, v jsontext.Value, images bool) ([]message.Part, error) {
	switch v.Kind() {
	case 0, jsontext.KindNull:
		return nil, nil
	case jsontext.KindString:
		var text string
		if err := json.Unmarshal(v, &text); err != nil {
			return nil, misread(err)
		}
		if text == "" {
			return nil, nil
		}
		return []message.Part{message.Text{Text: text}}, nil
	case jsontext.KindBeginArray:
	default:
		return nil, invalid(at, "must be a text or a list of parts")
	}
	var list []wirePart
	if err := json.Unmarshal(v, &list); err != nil {
		e := misread(err)
		e.Param = at
		return nil, e
	}
	var parts []message.Part
	for i := range list {
		p, err := c.part(fmt.Sprintf("%s[%d]", at, i), &list[i], images)
		if err != nil {
			return nil, err
		}
		if p != nil {
			parts = append(parts, p)
		}
	}
	return parts, nil
}

func (c *conversation) part(at string, p *wirePart, images bool) (message.Part, error) {
	ignore(c.ignored, "messages.content.", p.Rest)
	text := p.Text
	switch {
	case p.Type == "refusal":
		text = p.Refusal
	case p.Type == "image_url" && images && p.ImageURL != nil:
		ignore(c.ignored, "messages.content.image_url.", p.ImageURL.Rest)
		return image(at+".image_url.url", p.ImageURL.URL)
	case p.Type == "image_url" && !images:
		return nil, invalid(at, "has an image: only the messages of users may have some")
	case p.Type != "text":
		return nil, invalid(at+".type", "must be text or image_url, not "+quote(p.Type))
	}
	if text == nil || *text == "" {
		return nil, nil
	}
	return message.Text{Text: *text}, nil
}

// image reads an image that stands in its address. Others are not fetched.
func image(at, url string) (message.Part, error) {
	head, data, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	if !ok || !strings.HasPrefix(url, "data:") {
		return nil, invalid(at, "must be a data URL, data:image/png;base64,…: what is elsewhere is not fetched")
	}
	switch head {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
	default:
		return nil, invalid(at, "must be of image/png, image/jpeg, image/gif or image/webp, not "+quote(head))
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(raw) == 0 {
		return nil, invalid(at, "is not valid base64, or empty")
	}
	return message.Image{MediaType: head, Data: raw}, nil
}
