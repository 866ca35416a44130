package openai

import (
	"strconv"
	"time"

	"github.com/rosterrun/roster/message"
)

// Done ends each stream that is whole.
const Done = "data: [DONE]\n\n"

// Head is what an answer, and each of its chunks, begins with.
type Head struct {
	ID      string
	Model   string // as it was asked for
	Created int64  // seconds since 1970
	// Revision is that of the profile: the system_fingerprint.
	Revision string
}

// Why an answer ends.
const (
	FinishStop   = "stop"
	FinishLength = "length"
	FinishCalls  = "tool_calls"
	FinishFilter = "content_filter"
)

// Answer is a whole answer.
type Answer struct {
	Head
	Text   string
	Calls  []message.ToolCall // that the client is to make
	Finish string
	Usage  message.Usage
	// Session is where the run stands, and Reason why its loop ended.
	Session, Reason string
}

type usage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
	Details    struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func usageOf(u message.Usage) usage {
	out := usage{Prompt: u.Input + u.CacheRead + u.CacheWrite, Completion: u.Output}
	out.Total, out.Details.Cached = out.Prompt+out.Completion, u.CacheRead
	return out
}

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func callOf(c message.ToolCall) call {
	out := call{ID: c.ID, Type: "function"}
	out.Function.Name, out.Function.Arguments = c.Name, string(c.Input)
	return out
}

// roster is what the protocol has no place for.
type roster struct {
	Session string `json:"session_id"`
	Reason  string `json:"stop_reason"`
}

// JSON is the answer as one object.
func (a *Answer) JSON() []byte {
	type reply struct {
		Role    string  `json:"role"`
		Content *string `json:"content"`
		Refusal *string `json:"refusal"`
		Calls   []call  `json:"tool_calls,omitempty"`
	}
	type choice struct {
		Index    int     `json:"index"`
		Message  reply   `json:"message"`
		Logprobs *string `json:"logprobs"`
		Finish   string  `json:"finish_reason"`
	}
	m := reply{Role: "assistant"}
	if a.Text != "" || len(a.Calls) == 0 {
		m.Content = &a.Text
	}
	for _, c := range a.Calls {
		m.Calls = append(m.Calls, callOf(c))
	}
	return encode(struct {
		ID       string    `json:"id"`
		Object   string    `json:"object"`
		Created  int64     `json:"created"`
		Model    string    `json:"model"`
		Revision string    `json:"system_fingerprint"`
		Choices  [1]choice `json:"choices"`
		Usage    usage     `json:"usage"`
		Roster   roster    `json:"roster"`
	}{a.ID, "chat.completion", a.Created, a.Model, a.Revision, [1]choice{{Message: m, Finish: a.Finish}}, usageOf(a.Usage), roster{a.Session, a.Reason}})
}

// Chunks writes an answer in pieces, as server-sent events.
type Chunks struct {
	head  []byte // of each chunk, up to its choices
	usage bool   // the client wants to be told
}

// NewChunks writes the chunks of an answer; withUsage has the last one tell what the
// run took.
func NewChunks(h Head, withUsage bool) *Chunks {
	b := append([]byte(nil), `data: {"id":`...)
	b = message.AppendString(b, h.ID)
	b = append(b, `,"object":"chat.completion.chunk","created":`...)
	b = strconv.AppendInt(b, h.Created, 10)
	b = append(b, `,"model":`...)
	b = message.AppendString(b, h.Model)
	b = append(b, `,"system_fingerprint":`...)
	b = message.AppendString(b, h.Revision)
	b = append(b, `,"choices":[`...)
	return &Chunks{b, withUsage}
}

// delta appends a chunk with a piece of the message, as JSON, and why it ends, if it
// does.
func (c *Chunks) delta(dst, piece []byte, finish string) []byte {
	dst = append(append(dst, c.head...), `{"index":0,"delta":`...)
	dst = append(append(dst, piece...), `,"logprobs":null,"finish_reason":`...)
	if finish == "" {
		dst = append(dst, "null}]"...)
	} else {
		dst = append(message.AppendString(dst, finish), "}]"...)
	}
	if c.usage {
		dst = append(dst, `,"usage":null`...)
	}
	return append(dst, "}\n\n"...)
}

// Begin appends the first chunk.
func (c *Chunks) Begin(dst []byte) []byte {
	return c.delta(dst, []byte(`{"role":"assistant","content":"","refusal":null}`), "")
}

// Text appends a piece of the text.
func (c *Chunks) Text(dst []byte, text string) []byte {
	piece := message.AppendString([]byte(`{"content":`), text)
	return c.delta(dst, append(piece, '}'), "")
}

// Calls appends the calls that the client is to make, one a chunk.
func (c *Chunks) Calls(dst []byte, calls []message.ToolCall) []byte {
	for i, made := range calls {
		piece := encode(struct {
			Calls [1]any `json:"tool_calls"`
		}{[1]any{struct {
			Index int `json:"index"`
			call  `json:",embed"`
		}{i, callOf(made)}}})
		dst = c.delta(dst, piece, "")
	}
	return dst
}

// End appends why the answer ends, what it took if that is wanted, and the mark of a
// stream that is whole.
func (c *Chunks) End(dst []byte, a *Answer) []byte {
	dst = c.delta(dst, []byte("{}"), a.Finish)
	if c.usage {
		dst = append(append(dst, c.head...), `],"usage":`...)
		dst = append(dst, encode(usageOf(a.Usage))...)
		dst = append(append(dst, `,"roster":`...), encode(roster{a.Session, a.Reason})...)
		dst = append(dst, "}\n\n"...)
	}
	return append(dst, Done...)
}

// Fail appends what ends a stream that is not whole.
func Fail(dst []byte, e *Error) []byte {
	dst = append(append(dst, "data: "...), e.JSON()...)
	return append(dst, "\n\n"...)
}

// Model is a profile as clients see it.
type Model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"` // seconds since 1970
	OwnedBy string `json:"owned_by"`
}

// NewModel describes a profile by its name and when it was last changed; zero: that is
// not known, and Created is 0.
func NewModel(name string, changed time.Time) Model {
	m := Model{ID: name, Object: "model", OwnedBy: "roster"}
	if !changed.IsZero() {
		m.Created = changed.Unix()
	}
	return m
}

// Models is the list of them.
func Models(list []Model) []byte {
	return encode(struct {
		Object string  `json:"object"`
		Data   []Model `json:"data"`
	}{"list", list})
}

// JSON is the model as an answer.
func (m Model) JSON() []byte { return encode(m) }
