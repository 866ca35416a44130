package oracle

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	ollamaanthropic "github.com/ollama/ollama/anthropic"
	"github.com/ollama/ollama/api"
	ollamaopenai "github.com/ollama/ollama/openai"

	"github.com/rosterrun/roster/internal/wire/wiretest"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/anthropic"
	"github.com/rosterrun/roster/model/openaichat"
	"github.com/rosterrun/roster/model/openairesponses"
)

// ollama is a server that takes requests and writes answers with Ollama's own
// code, in the three protocols that both speak. What its model would be given is
// put into asked.
type ollama struct {
	t      *testing.T
	answer []api.ChatResponse
	asked  *api.ChatRequest
}

func (o *ollama) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		w.Header().Set("Content-Type", "text/event-stream")
		switch {
		case strings.HasSuffix(r.URL.Path, "/chat/completions"):
			err = o.chat(w, body)
		case strings.HasSuffix(r.URL.Path, "/responses"):
			err = o.responses(w, body)
		case strings.HasSuffix(r.URL.Path, "/messages"):
			err = o.messages(w, body)
		default:
			err = fmt.Errorf("no such path: %s", r.URL.Path)
		}
	}
	if err != nil {
		o.t.Errorf("%s: %v", r.URL.Path, err)
	}
}

func (o *ollama) chat(w io.Writer, body []byte) (err error) {
	var q ollamaopenai.ChatCompletionRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return err
	}
	if o.asked, err = ollamaopenai.FromChatRequest(q); err != nil {
		return err
	}
	called := false
	for _, a := range o.answer {
		c := ollamaopenai.ToChunk("chatcmpl-1", a, called)
		called = called || len(a.Message.ToolCalls) > 0
		event(w, "", c)
		if a.Done && q.StreamOptions != nil && q.StreamOptions.IncludeUsage {
			u := ollamaopenai.ToUsage(a)
			c.Usage, c.Choices = &u, []ollamaopenai.ChunkChoice{}
			event(w, "", c)
		}
	}
	_, err = io.WriteString(w, "data: [DONE]\n\n")
	return err
}

func (o *ollama) responses(w io.Writer, body []byte) (err error) {
	var q ollamaopenai.ResponsesRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return err
	}
	if o.asked, err = ollamaopenai.FromResponsesRequest(q); err != nil {
		return err
	}
	c := ollamaopenai.NewResponsesStreamConverter("resp_1", "msg_1", q.Model, q)
	for _, a := range o.answer {
		for _, e := range c.Process(a) {
			event(w, e.Event, e.Data)
		}
	}
	return nil
}

func (o *ollama) messages(w io.Writer, body []byte) (err error) {
	var q ollamaanthropic.MessagesRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return err
	}
	if o.asked, err = ollamaanthropic.FromMessagesRequest(q); err != nil {
		return err
	}
	c := ollamaanthropic.NewStreamConverter("msg_1", q.Model, 9)
	for _, a := range o.answer {
		for _, e := range c.Process(a) {
			event(w, e.Event, e.Data)
		}
	}
	return nil
}

func event(w io.Writer, name string, data any) {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	if name != "" {
		fmt.Fprintf(w, "event: %s\n", name)
	}
	fmt.Fprintf(w, "data: %s\n\n", b)
}

// heard is what Ollama would give its model.
type heard struct {
	System  string
	Said    []string // with who said it
	Images  int
	Calls   []string
	Results []string
	Tools   []string
	Most    string // tokens
	Heat    string
}

func hear(t *testing.T, q *api.ChatRequest) heard {
	t.Helper()
	if q == nil {
		t.Fatal("it was not asked")
	}
	h := heard{Most: fmt.Sprint(q.Options["num_predict"]), Heat: fmt.Sprint(q.Options["temperature"])}
	for _, m := range q.Messages {
		h.Images += len(m.Images)
		switch {
		case m.Role == "system":
			h.System += m.Content
		case m.Role == "tool":
			h.Results = append(h.Results, m.ToolCallID+" "+m.Content)
		case m.Content != "":
			h.Said = append(h.Said, m.Role+": "+m.Content)
		}
		for _, c := range m.ToolCalls {
			h.Calls = append(h.Calls, c.ID+" "+c.Function.Name+" "+c.Function.Arguments.String())
		}
	}
	for _, tool := range q.Tools {
		h.Tools = append(h.Tools, tool.Function.Name)
	}
	return h
}

// TestOllama asks a server made of Ollama's own code: its model is given the whole
// conversation, and we read what it answers.
func TestOllama(t *testing.T) {
	args := api.NewToolCallFunctionArguments()
	args.Set("path", "a.txt")
	answer := []api.ChatResponse{
		{Message: api.Message{Role: "assistant", Thinking: "One file."}},
		{Message: api.Message{Role: "assistant", Content: "I "}},
		{Message: api.Message{Role: "assistant", Content: "look."}},
		{Message: api.Message{Role: "assistant", ToolCalls: []api.ToolCall{{ID: "call_1", Function: api.ToolCallFunction{Name: "read", Arguments: args}}}}},
		{Message: api.Message{Role: "assistant"}, Done: true, DoneReason: "stop", Metrics: api.Metrics{PromptEvalCount: 9, EvalCount: 5}},
	}
	want := whole{
		Text: "I look.", Thinking: "One file.", Stop: "tools", Usage: message.Usage{Input: 9, Output: 5},
		Calls: []call{{"call_1", "read", map[string]any{"path": "a.txt"}}},
	}
	given := heard{
		System: "You are brief.\n\nThe workspace is /w.",
		Said: []string{
			"user: What is in a.txt & b.png? “<quotes>” \U0001F642 \x01", "assistant: I look at both.", "user: Go on.",
			"assistant: It holds ", "user: And?", "user: <roster-reminder>3 turns are left.</roster-reminder>",
		},
		Calls:   []string{`toolu_1 read {"path":"a.txt"}`, `toolu_2 read {"path":"b.png"}`, `toolu_3 list {}`},
		Results: []string{"toolu_1 1\thello\n", "toolu_2 An image:", "toolu_3 no such directory"},
		Tools:   []string{"read", "list"}, Most: "4000", Heat: "0.2", Images: 1,
	}
	for _, c := range []struct {
		name   string
		differ func(r *model.Request, h *heard) // from the usual
		at     func(url string, c *http.Client) model.Model
	}{
		{"chat", func(_ *model.Request, h *heard) { // images of results come after them
			h.Images++
			h.Said = slices.Insert(h.Said, 2, "user: Images in the result of read (toolu_2):")
		}, func(url string, c *http.Client) model.Model {
			return openaichat.New(openaichat.Config{Provider: "ollama", Model: "m", BaseURL: url + "/v1", HTTPClient: c})
		}},
		{"responses", func(r *model.Request, _ *heard) { // it takes no images in results
			result := r.Messages[3].Parts[1].(message.ToolResult)
			result.Parts = result.Parts[:1]
			r.Messages[3].Parts[1] = result
		}, func(url string, c *http.Client) model.Model {
			return openairesponses.New(openairesponses.Config{Provider: "ollama", Model: "m", BaseURL: url + "/v1", HTTPClient: c})
		}},
		{"messages", func(_ *model.Request, h *heard) { // it joins blocks, and leaves out images in results
			h.System = strings.ReplaceAll(h.System, "\n\n", "")
			h.Said[4] += strings.TrimPrefix(h.Said[5], "user: ")
			h.Said = h.Said[:5]
		}, func(url string, c *http.Client) model.Model {
			return anthropic.New(anthropic.Config{Provider: "ollama", Model: "m", BaseURL: url, HTTPClient: c})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &ollama{t: t, answer: answer}
			m := c.at(wiretest.Serve(t, o.ServeHTTP), wiretest.Client(t))
			r, hears := wiretest.Conversation(), given
			hears.Said = slices.Clone(given.Said)
			c.differ(r, &hears)
			got := ours(t, m, r, func() any { return nil })
			if len(got.Texts) != 2 {
				t.Errorf("pieces %q", got.Texts)
			}
			got.Whole.Signature = "" // Ollama makes one up
			if d := cmp.Diff(want, got.Whole); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(hears, hear(t, o.asked)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestOllamaBySchema: the schema of an answer reaches Ollama's model, as its format.
func TestOllamaBySchema(t *testing.T) {
	const schema = `{"type":"object","properties":{"n":{"type":"integer"}}}`
	for _, c := range []struct {
		name string
		m    func(url string) model.Model
	}{
		{"chat", func(url string) model.Model {
			return openaichat.New(openaichat.Config{Model: "m", BaseURL: url + "/v1", HTTPClient: wiretest.Client(t)})
		}},
		{"responses", func(url string) model.Model {
			return openairesponses.New(openairesponses.Config{Model: "m", BaseURL: url + "/v1", HTTPClient: wiretest.Client(t)})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &ollama{t: t, answer: []api.ChatResponse{{Message: api.Message{Role: "assistant", Content: `{"n":1}`}, Done: true, DoneReason: "stop"}}}
			r := wiretest.Request(wiretest.Text(message.User, "How many?"))
			r.Params.Schema = &model.Schema{Name: "answer", JSON: []byte(schema)}
			got := ours(t, c.m(wiretest.Serve(t, o.ServeHTTP)), r, func() any { return nil })
			if got.Whole.Text != `{"n":1}` || o.asked == nil || string(o.asked.Format) != schema {
				t.Errorf("answer %+v to %+v", got.Whole, o.asked)
			}
		})
	}
}
