// Package offline is what the models share that reach no provider: scripts,
// recordings and the stand-in. It has a canonical JSON form of requests, token
// estimates, ids of tool calls, and the pacing of a stream.
package offline

import (
	"strconv"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

// Render returns the whole request. Messages come through wire, so that their
// cached form is used. Ids that the engine gives (message, parent) are left
// out: the same conversation has the same bytes in every session.
func Render(r *model.Request, wire func(*message.Message) ([]byte, error)) ([]byte, error) {
	b := append(make([]byte, 0, 1024), '{')
	b = AppendPrefix(b, r.Prefix)
	b = AppendTurn(append(b, ','), r)
	b = append(b, `,"messages":[`...)
	for i, m := range r.Messages {
		w, err := wire(m)
		if err != nil {
			return nil, err
		}
		b = append(comma(b, i), w...)
	}
	return append(b, ']', '}'), nil
}

// AppendPrefix appends the members system and tools.
func AppendPrefix(b []byte, p *model.Prefix) []byte {
	if p == nil {
		p = &model.Prefix{}
	}
	b = append(b, `"system":[`...)
	for i, s := range p.System {
		b = message.AppendString(comma(b, i), s)
	}
	b = append(b, `],"tools":[`...)
	for i, t := range p.Tools {
		b = message.AppendString(append(comma(b, i), `{"name":`...), t.Name)
		b = message.AppendString(append(b, `,"description":`...), t.Description)
		b = append(b, `,"schema":`...)
		if len(t.Schema) == 0 {
			b = append(b, "null"...)
		}
		b = append(append(b, t.Schema...), '}')
	}
	return append(b, ']')
}

// AppendTurn appends the members that belong to this turn alone: params and
// tail.
func AppendTurn(b []byte, r *model.Request) []byte {
	b = appendParams(append(b, `"params":`...), r.Params)
	return message.AppendString(append(b, `,"tail":`...), r.Tail)
}

func appendParams(b []byte, p model.Params) []byte {
	b = append(b, '{')
	if p.Temperature != nil {
		b = append(b, `"temperature":`...)
		b = append(strconv.AppendFloat(b, *p.Temperature, 'g', -1, 64), ',')
	}
	if p.TopP != nil {
		b = append(b, `"top_p":`...)
		b = append(strconv.AppendFloat(b, *p.TopP, 'g', -1, 64), ',')
	}
	b = strconv.AppendInt(append(b, `"max_tokens":`...), int64(p.MaxTokens), 10)
	b = message.AppendString(append(b, `,"cache":`...), string(p.Cache))
	b = message.AppendString(append(b, `,"tool_choice":`...), p.ToolChoice)
	return append(b, '}')
}

// Message returns one message: role, partial and parts.
func Message(m *message.Message) ([]byte, error) {
	b := make([]byte, 0, 64+Size(m.Parts))
	b = message.AppendString(append(b, `{"role":`...), string(m.Role))
	if m.Partial {
		b = append(b, `,"partial":true`...)
	}
	b = message.AppendParts(append(b, `,"parts":`...), m.Parts)
	return append(b, '}'), nil
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}
