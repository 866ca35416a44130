package session

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/rosterrun/roster/message"
)

// The bodies that a turn writes are encoded by hand: they are most of the work
// of a turn that waits for no model. The property test in encode_test.go holds
// them against their decoding.

func (*Prompt) Type() string      { return "prompt" }
func (*Steer) Type() string       { return "steer" }
func (*Followup) Type() string    { return "followup" }
func (*Cancel) Type() string      { return "cancel" }
func (*Set) Type() string         { return "session.set" }
func (*Start) Type() string       { return "session.start" }
func (*LoopStart) Type() string   { return "loop.start" }
func (*LoopResumed) Type() string { return "loop.resumed" }
func (*Switched) Type() string    { return "profile.switched" }
func (*TurnStart) Type() string   { return "turn.start" }
func (*TurnRequest) Type() string { return "turn.request" }
func (*Message) Type() string     { return "message" }
func (*ToolBefore) Type() string  { return "tool.before" }
func (*ToolUpdate) Type() string  { return "tool.update" }
func (*ToolAfter) Type() string   { return "tool.after" }
func (*Hooked) Type() string      { return "hook" }
func (*Usage) Type() string       { return "usage" }
func (*Retry) Type() string       { return "retry" }
func (*Fallback) Type() string    { return "model.fallback" }
func (*Limit) Type() string       { return "limit" }
func (*Error) Type() string       { return "error" }
func (*LoopEnd) Type() string     { return "loop.end" }
func (*Delta) Type() string       { return "delta" }
func (*Partial) Type() string     { return "message.partial" }
func (*Reset) Type() string       { return "message.reset" }

func (*PermissionAsked) Type() string    { return "permission.asked" }
func (*PermissionResolved) Type() string { return "permission.resolved" }
func (*Branch) Type() string             { return "branch" }
func (*InputAsked) Type() string         { return "input.asked" }
func (*InputAnswered) Type() string      { return "input.answered" }
func (*LoopWaiting) Type() string        { return "loop.waiting" }

// object writes the members of a JSON object; empty optional ones are left out.
type object struct{ dst []byte }

func (o *object) key(k string) {
	if o.dst[len(o.dst)-1] != '{' {
		o.dst = append(o.dst, ',')
	}
	o.dst = append(o.dst, '"')
	o.dst = append(o.dst, k...)
	o.dst = append(o.dst, '"', ':')
}

func (o *object) str(k, v string) {
	if v == "" {
		return
	}
	o.key(k)
	o.dst = message.AppendString(o.dst, v)
}

func (o *object) num(k string, v int64) {
	if v == 0 {
		return
	}
	o.key(k)
	o.dst = strconv.AppendInt(o.dst, v, 10)
}

func (o *object) flag(k string, v bool) {
	if !v {
		return
	}
	o.key(k)
	o.dst = append(o.dst, "true"...)
}

func (o *object) parts(ps []message.Part) {
	if ps == nil {
		return
	}
	o.key("parts")
	o.dst = message.AppendParts(o.dst, ps)
}

// raw writes what is JSON already.
func (o *object) raw(k string, v json.RawMessage) {
	if len(v) == 0 {
		return
	}
	o.key(k)
	o.dst = append(o.dst, v...)
}

// value writes what is rare enough for encoding/json.
func (o *object) value(k string, v any) {
	o.key(k)
	o.dst = appendAny(o.dst, v)
}

func (o *object) end() []byte { return append(o.dst, '}') }

func begin(dst []byte) object { return object{append(dst, '{')} }

func appendAny(dst []byte, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("session: encode %T: %v", v, err)) // plain structs of ours: cannot fail
	}
	return append(dst, b...)
}

func appendUsage(dst []byte, u *message.Usage) []byte {
	dst = append(dst, `{"input_tokens":`...)
	dst = strconv.AppendInt(dst, u.Input, 10)
	dst = append(dst, `,"output_tokens":`...)
	dst = strconv.AppendInt(dst, u.Output, 10)
	dst = append(dst, `,"cache_read_tokens":`...)
	dst = strconv.AppendInt(dst, u.CacheRead, 10)
	dst = append(dst, `,"cache_write_tokens":`...)
	dst = strconv.AppendInt(dst, u.CacheWrite, 10)
	dst = append(dst, `,"cost":`...)
	dst = strconv.AppendFloat(dst, u.Cost, 'g', -1, 64)
	if u.Estimated {
		dst = append(dst, `,"estimated":true`...)
	}
	return append(dst, '}')
}

func (b *Prompt) AppendJSON(dst []byte) []byte {
	o := begin(dst)
	o.parts(b.Parts)
	o.str("profile", b.Profile)
	if len(b.Set) > 0 {
		o.value("set", b.Set)
	}
	if len(b.Flags) > 0 {
		o.value("flags", b.Flags)
	}
	o.flag("allow_all", b.AllowAll)
	o.raw("schema", b.Schema)
	if b.Client != nil {
		o.value("client", b.Client)
	}
	o.flag("shared", b.Shared)
	o.str("user", b.User)
	o.str("key", b.KeyID)
	o.str("request", b.Request)
	o.str("agent", b.Agent)
	o.flag("headless", b.Headless)
	o.str("on_deny", b.OnDeny)
	if len(b.Lent) > 0 {
		o.value("lent", b.Lent)
	}
	if b.Command != nil {
		o.value("command", b.Command)
	}
	return o.end()
}

func (b *Start) AppendJSON(dst []byte) []byte {
	o := begin(dst)
	o.key("profile")
	o.dst = message.AppendString(o.dst, b.Profile)
	o.key("title")
	o.dst = message.AppendString(o.dst, b.Title)
	o.str("parent", b.Parent)
	o.str("call", b.Call)
	return o.end()
}

func (b *Steer) AppendJSON(dst []byte) []byte {
	o := begin(dst)
	o.parts(b.Parts)
	return o.end()
}

func (b *Followup) AppendJSON(dst []byte) []byte { return (*Steer)(b).AppendJSON(dst) }

func (b *LoopStart) AppendJSON(dst []byte) []byte {
	o := begin(dst)
	o.num("number", int64(b.Number))
	o.str("config_id", b.Config)
	o.str("parent_loop", b.Parent)
	o.str("why", b.Why)
	o.str("profile", b.Profile)
	o.str("revision", b.Revision)
	o.str("model", b.Model)
	o.str("spec", b.Spec)
	o.str("prefix", b.Prefix)
	o.str("user", b.User)
	o.str("key", b.KeyID)
	o.str("request", b.Request)
	o.flag("headless", b.Headless)
	o.str("on_deny", b.OnDeny)
	o.raw("schema", b.Schema)
	o.flag("client_calls", b.ClientCalls)
	return o.end()
}

func (b *TurnStart) AppendJSON(dst []byte) []byte { return append(dst, "{}"...) }

func (b *TurnRequest) AppendJSON(dst []byte) []byte {
	o := begin(dst)
	o.str("message", b.Message)
	o.num("attempt", int64(b.Attempt))
	o.str("renderer", b.Renderer)
	o.num("messages", int64(b.Messages))
	o.str("head", b.Head)
	o.raw("params", b.Params)
	o.str("tail", b.Tail)
	o.str("digest", b.Digest)
	o.str("body", b.Body)
	o.str("for", b.For)
	o.str("model", b.Model)
	if len(b.System) > 0 {
		o.value("system", b.System)
	}
	o.num("from", int64(b.From))
	return o.end()
}

func (b *Message) AppendJSON(dst []byte) []byte {
	o := begin(dst)
	o.str("id", b.ID)
	o.str("parent", b.Parent)
	o.str("role", string(b.Role))
	o.str("source", b.Source)
	o.num("post", b.Post)
	o.str("why", b.Why)
	if len(b.Calls) > 0 {
		o.key("calls")
		o.dst = append(o.dst, '[')
		for i, c := range b.Calls {
			if i > 0 {
				o.dst = append(o.dst, ',')
			}
			o.dst = message.AppendString(o.dst, c)
		}
		o.dst = append(o.dst, ']')
	}
	o.parts(b.Parts)
	o.flag("partial", b.Partial)
	o.str("stop", b.Stop)
	return o.end()
}

func (b *ToolBefore) AppendJSON(dst []byte) []byte {
	o := begin(dst)
	o.str("call", b.Call)
	o.str("tool", b.Tool)
	if json.Valid(b.Input) {
		o.key("input")
		o.dst = append(o.dst, b.Input...)
	} else {
		o.str("invalid_input", string(b.Input))
	}
	o.str("recovery", b.Recovery)
	o.str("child", b.Child)
	o.str("effect", b.Effect)
	if b.Rule != nil {
		o.value("rule", b.Rule)
	}
	o.str("reason", b.Reason)
	return o.end()
}

func (b *ToolAfter) AppendJSON(dst []byte) []byte {
	o := begin(dst)
	o.str("call", b.Call)
	o.str("tool", b.Tool)
	o.str("outcome", string(b.Outcome))
	o.parts(b.Parts)
	o.str("artifact", b.Artifact)
	o.num("duration_ns", int64(b.Duration))
	if b.Seen != nil {
		o.key("seen")
		f := begin(o.dst)
		f.key("path")
		f.dst = message.AppendString(f.dst, b.Seen.Path)
		f.key("state")
		f.dst = message.AppendString(f.dst, b.Seen.State)
		o.dst = f.end()
	}
	return o.end()
}

func (b *Hooked) AppendJSON(dst []byte) []byte {
	o := begin(dst)
	o.str("on", b.On)
	o.str("decision", b.Decision)
	o.str("by", b.By)
	o.str("reason", b.Reason)
	o.flag("failed", b.Failed)
	o.str("call", b.Call)
	o.raw("input", b.Input)
	o.parts(b.Parts)
	return o.end()
}

func (b *Usage) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"usage":`...)
	dst = appendUsage(dst, &b.Usage)
	dst = append(dst, `,"model":`...)
	dst = message.AppendString(dst, b.Model)
	return append(dst, '}')
}

func (b *LoopEnd) AppendJSON(dst []byte) []byte {
	o := begin(dst)
	o.str("reason", string(b.Reason))
	o.key("text")
	o.dst = message.AppendString(o.dst, b.Text)
	o.key("usage")
	o.dst = appendUsage(o.dst, &b.Usage)
	o.str("limit", b.Limit)
	o.num("denied", int64(b.Denied))
	if b.Error != nil {
		o.value("error", b.Error)
	}
	return o.end()
}

func (b *Delta) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"message":`...)
	dst = message.AppendString(dst, b.Message)
	dst = append(dst, `,"attempt":`...)
	dst = strconv.AppendInt(dst, int64(b.Attempt), 10)
	dst = append(dst, `,"offset":`...)
	dst = strconv.AppendInt(dst, int64(b.Offset), 10)
	dst = append(dst, `,"text":`...)
	dst = message.AppendString(dst, b.Text)
	return append(dst, '}')
}

func (b *Cancel) AppendJSON(dst []byte) []byte      { return appendAny(dst, b) }
func (b *Set) AppendJSON(dst []byte) []byte         { return appendAny(dst, b) }
func (b *Switched) AppendJSON(dst []byte) []byte    { return appendAny(dst, b) }
func (b *LoopResumed) AppendJSON(dst []byte) []byte { return appendAny(dst, b) }
func (b *ToolUpdate) AppendJSON(dst []byte) []byte  { return appendAny(dst, b) }
func (b *Retry) AppendJSON(dst []byte) []byte       { return appendAny(dst, b) }
func (b *Fallback) AppendJSON(dst []byte) []byte    { return appendAny(dst, b) }
func (b *Limit) AppendJSON(dst []byte) []byte       { return appendAny(dst, b) }
func (b *Error) AppendJSON(dst []byte) []byte       { return appendAny(dst, b) }
func (b *Reset) AppendJSON(dst []byte) []byte       { return appendAny(dst, b) }

func (b *PermissionAsked) AppendJSON(dst []byte) []byte {
	o := begin(dst)
	o.str("ask", b.Ask)
	o.str("call", b.Call)
	o.str("tool", b.Tool)
	o.raw("input", b.Input)
	o.str("digest", b.Digest)
	o.str("state", b.State)
	o.value("needs", b.Needs)
	o.flag("grantable", b.Grantable)
	o.value("parts", b.Parts)
	if b.Rule != nil {
		o.value("rule", b.Rule)
	}
	o.str("reason", b.Reason)
	o.str("again", b.Again)
	if !b.Expires.IsZero() {
		o.value("expires", b.Expires)
	}
	return o.end()
}

func (b *PermissionResolved) AppendJSON(dst []byte) []byte { return appendAny(dst, b) }
func (b *Branch) AppendJSON(dst []byte) []byte             { return appendAny(dst, b) }
func (b *InputAsked) AppendJSON(dst []byte) []byte         { return appendAny(dst, b) }
func (b *InputAnswered) AppendJSON(dst []byte) []byte      { return appendAny(dst, b) }
func (b *LoopWaiting) AppendJSON(dst []byte) []byte        { return appendAny(dst, b) }

// AppendJSON appends the event as readers see it: one object without a newline.
// A live event has no seq.
func (e *Event) AppendJSON(dst []byte) []byte {
	e.Encode()
	if d := e.piece(); d != nil {
		return e.appendPiece(dst, d)
	}
	o := begin(dst)
	o.num("v", int64(e.V))
	o.num("seq", e.Seq)
	o.str("session", e.Session)
	o.str("loop", e.Loop)
	o.num("turn", int64(e.Turn))
	o.str("agent_id", e.Agent)
	o.key("depth")
	o.dst = strconv.AppendInt(o.dst, int64(e.Depth), 10)
	o.str("chainId", e.Chain)
	o.key("time")
	o.dst = append(o.dst, '"')
	o.dst = e.Time.AppendFormat(o.dst, time.RFC3339Nano)
	o.dst = append(o.dst, '"')
	o.str("type", e.Type)
	o.key("data")
	o.dst = append(o.dst, e.Data...)
	return o.end()
}

// appendPiece writes a piece of a message flat, as `run --json` shows it.
func (e *Event) appendPiece(dst []byte, d *Delta) []byte {
	o := begin(dst)
	o.str("type", e.Body.Type())
	o.str("session", e.Session)
	o.num("depth", int64(e.Depth))
	dst = append(o.dst, ',')
	n := len(dst)
	dst = d.AppendJSON(dst)
	copy(dst[n:], dst[n+1:]) // drop the inner brace
	return dst[:len(dst)-1]
}

// MarshalJSON is AppendJSON for encoding/json.
func (e *Event) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }
