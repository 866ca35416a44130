package anthropic

import (
	"fmt"
	"strconv"

	"github.com/rosterrun/roster/internal/wire"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

// A message's form is open, its content blocks and shut, so that messages of
// one role can be joined without encoding them again.
const (
	openUser      = `{"role":"user","content":[`
	openAssistant = `{"role":"assistant","content":[`
	shut          = `]}`
)

// The pieces that stand between the kept forms; never changed.
var (
	messagesKey  = []byte(`,"messages":[`)
	comma        = []byte(",")
	userBegins   = []byte(openUser)
	assistBegins = []byte(openAssistant)
	turnToUser   = []byte(shut + "," + openUser)
	turnToAssist = []byte(shut + "," + openAssistant)
	markedEnd    = []byte(`,"cache_control":{"type":"ephemeral"}}`)
	messageEnds  = []byte(shut)
)

// body puts a request together: what belongs to the call, the prefix and the
// messages in their kept forms, and the tail.
func (m *Model) body(r *model.Request) (*wire.Body, error) {
	head, err := m.head(r)
	if err != nil {
		return nil, m.endpoint.Refuse(err)
	}
	b := wire.NewBody(3*len(r.Messages) + 8)
	b.Add(head)
	if r.Prefix != nil {
		prefix, err := m.prefix(r)
		if err != nil {
			return nil, m.endpoint.Refuse(err)
		}
		b.Add(prefix)
	}
	b.Add(messagesKey)
	j := joiner{body: b}
	mark, err := m.breakpoint(r)
	if err != nil {
		return nil, m.endpoint.Refuse(err)
	}
	for _, msg := range r.Messages {
		w, err := m.Wire(msg)
		if err != nil {
			return nil, m.endpoint.Refuse(err)
		}
		j.add(w, msg == mark)
	}
	if !blank(r.Tail) {
		tail := append(appendText([]byte(openUser), r.Tail), shut...)
		j.add(tail, false)
	}
	j.end()
	return b, nil
}

func (m *Model) prefix(r *model.Request) ([]byte, error) {
	form := renderer
	if c := r.Params.Cache; c != model.CacheAuto {
		form += " cache=" + string(c)
	}
	return r.Prefix.Wire(form, func(p *model.Prefix) ([]byte, error) { return encodePrefix(p, r.Params.Cache) })
}

// breakpoint returns the message whose end is a cache breakpoint: the last but
// one that is sent, for the last is what is new. Nil means none.
func (m *Model) breakpoint(r *model.Request) (*message.Message, error) {
	if !r.Params.Cache.Marks(model.CacheMessages) {
		return nil, nil
	}
	sent := 0
	for i := len(r.Messages) - 1; i >= 0; i-- {
		w, err := m.Wire(r.Messages[i])
		if err != nil {
			return nil, err
		}
		if len(w) > 0 {
			sent++
		}
		if sent == 2 {
			return r.Messages[i], nil
		}
	}
	return nil, nil
}

// joiner writes the list of messages, those of one role that follow each other
// as one: results must stand in the message right after their calls.
type joiner struct {
	body *wire.Body
	role byte // 'u' or 'a' of the message that is not yet shut, 0 at the beginning
}

func (j *joiner) add(w []byte, mark bool) {
	if len(w) == 0 {
		return
	}
	role, open := byte('u'), len(openUser)
	if w[len(`{"role":"`)] == 'a' {
		role, open = 'a', len(openAssistant)
	}
	j.body.Add(j.between(role))
	j.role = role
	content := w[open : len(w)-len(shut)]
	if mark {
		j.body.Add(content[:len(content)-1], markedEnd)
	} else {
		j.body.Add(content)
	}
}

// between is what stands between the last content and that of role.
func (j *joiner) between(role byte) []byte {
	switch {
	case j.role == role:
		return comma
	case j.role == 0 && role == 'u':
		return userBegins
	case j.role == 0:
		return assistBegins
	case role == 'u':
		return turnToUser
	}
	return turnToAssist
}

func (j *joiner) end() {
	if j.role != 0 {
		j.body.Add(messageEnds)
	}
	j.body.Add(messageEnds)
}

// head is the body up to the prefix.
func (m *Model) head(r *model.Request) ([]byte, error) {
	b := make([]byte, 0, 256)
	b = wire.AppendString(append(b, `{"model":`...), m.id)
	maxTokens := r.Params.MaxTokens
	if maxTokens <= 0 {
		maxTokens = m.maxOutput
	}
	b = strconv.AppendInt(append(b, `,"max_tokens":`...), int64(maxTokens), 10)
	b = append(b, `,"stream":true`...)
	b, err := wire.AppendSampling(b, r.Params)
	if err != nil {
		return nil, err
	}
	b = m.appendThinking(b, r.Params.Thinking, maxTokens)
	if b, err = m.appendOutput(b, r.Params); err != nil {
		return nil, err
	}
	if r.Params.ToolChoice == "none" && r.Prefix != nil && len(r.Prefix.Tools) > 0 {
		b = append(b, `,"tool_choice":{"type":"none"}`...)
	}
	return b, nil
}

// encodePrefix gives the tools and the system blocks; mark stands in the last
// of each.
func encodePrefix(p *model.Prefix, cache model.Cache) ([]byte, error) {
	var b []byte
	for i, t := range p.Tools {
		var err error
		if b, err = appendTool(append(b, separator(i, `,"tools":[`)...), t); err != nil {
			return nil, err
		}
	}
	if len(p.Tools) > 0 {
		b = append(markLast(b, cache.Marks(model.CacheTools)), ']')
	}
	blocks := 0
	for _, text := range p.System {
		if !blank(text) {
			b = appendText(append(b, separator(blocks, `,"system":[`)...), text)
			blocks++
		}
	}
	if blocks > 0 {
		b = append(markLast(b, cache.Marks(model.CacheSystem)), ']')
	}
	return b, nil
}

// separator is what stands before the i-th element of a list.
func separator(i int, open string) string {
	if i == 0 {
		return open
	}
	return ","
}

// markLast puts a breakpoint into the object that b ends with, if there is one.
func markLast(b []byte, marked bool) []byte {
	if !marked {
		return b
	}
	return append(b[:len(b)-1], markedEnd...)
}

func appendTool(b []byte, t *model.ToolDef) ([]byte, error) {
	if !wire.IsObject(t.Schema) {
		return nil, fmt.Errorf("tool %s: its schema is no JSON object", t.Name)
	}
	b = wire.AppendString(append(b, `{"name":`...), t.Name)
	if t.Description != "" {
		b = wire.AppendString(append(b, `,"description":`...), t.Description)
	}
	b = append(append(b, `,"input_schema":`...), t.Schema...)
	return append(b, '}'), nil
}
