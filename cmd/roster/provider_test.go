package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// provider is a Chat Completions server on loopback. What it answers follows
// from the model's name:
//
//	text        "Hello from the provider." in four pieces
//	tool-N      N turns that each call bash, then the text
//	status-S    the HTTP status S; 429 with Retry-After: 0
//	once-S      the HTTP status S for the first request, then the text
//	garbage     bytes that are not its protocol
//	cut         a stream that ends in the middle of a message
//	silence     headers and nothing after them
//	hold        nothing until released
type provider struct {
	*httptest.Server
	release chan struct{} // closed: hold answers
	arrived chan int      // the number of each request

	mu     sync.Mutex
	count  int
	bodies []string
	heads  []http.Header
	hooks  []string // the paths below /hook that were posted to, which allow
}

const toolCommand = "echo ran >> effects.log"

func newProvider(t testing.TB) *provider {
	p := &provider{release: make(chan struct{}), arrived: make(chan int, 1000)}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.Server.Close)
	return p
}

// requests returns the bodies that were sent so far.
func (p *provider) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.bodies...)
}

// hooked returns the hooks that were asked so far.
func (p *provider) hooked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.hooks...)
}

// headers returns those of the requests so far.
func (p *provider) headers() []http.Header {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]http.Header(nil), p.heads...)
}

type chatRequest struct {
	Model    string
	Messages []struct{ Role string }
}

func (p *provider) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		p.models(w, r)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/hook") {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.hooks = append(p.hooks, r.URL.Path)
		io.WriteString(w, `{"decision": "allow"}`)
		return
	}
	if r.URL.Path == "/mcp" { // somebody takes it for an MCP server
		p.mu.Lock()
		defer p.mu.Unlock()
		p.hooks = append(p.hooks, r.URL.Path)
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	var q chatRequest
	if err == nil {
		err = json.Unmarshal(body, &q)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	p.count++
	n := p.count
	p.bodies = append(p.bodies, string(body))
	p.heads = append(p.heads, r.Header.Clone())
	p.mu.Unlock()
	p.arrived <- n
	p.answer(w, r, q, n)
}

// models says which there are, as vLLM and Ollama do.
func (p *provider) models(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/v1/models":
		io.WriteString(w, `{"object":"list","data":[
			{"id":"text","object":"model","created":1763700000,"owned_by":"vllm","root":"text","parent":null,"max_model_len":40960},
			{"id":"bad name\u202e","object":"model"}]}`)
	case "/api/tags":
		io.WriteString(w, `{"models":[{"name":"qwen3:8b","model":"qwen3:8b","modified_at":"2026-10-02T08:12:44.1Z","size":5225388164,
			"digest":"500a1f067a9f","details":{"format":"gguf","family":"qwen3","parameter_size":"8.2B","quantization_level":"Q4_K_M"}}]}`)
	default:
		http.NotFound(w, r)
	}
}

func (p *provider) answer(w http.ResponseWriter, r *http.Request, q chatRequest, n int) {
	kind, arg, _ := strings.Cut(q.Model, "-")
	number, _ := strconv.Atoi(arg)
	switch kind {
	case "status":
		fail(w, number)
	case "once":
		if n == 1 {
			fail(w, number)
			return
		}
		say(w, "stop", pieces("Hello from the provider.")...)
	case "garbage":
		io.WriteString(w, "<html>This is not the API that you are looking for.</html>")
	case "cut":
		say(w, "", pieces("Hello from")...)
	case "silence", "hold":
		stream(w)
		select {
		case <-r.Context().Done():
		case <-p.release:
			say(w, "stop", pieces("Hello from the provider.")...)
		}
	case "tool":
		if done := toolResults(q); done < number {
			say(w, "tool_calls", toolCall(done))
			return
		}
		fallthrough
	default:
		say(w, "stop", pieces("Hello from the provider.")...)
	}
}

func fail(w http.ResponseWriter, status int) {
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "0")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error": {"message": "the provider says %d"}}`, status)
}

func toolResults(q chatRequest) int {
	n := 0
	for _, m := range q.Messages {
		if m.Role == "tool" {
			n++
		}
	}
	return n
}

func toolCall(n int) string {
	args, _ := json.Marshal(map[string]string{"command": toolCommand})
	call, _ := json.Marshal([]any{map[string]any{
		"index": 0, "id": fmt.Sprintf("call_%d", n), "type": "function",
		"function": map[string]string{"name": "bash", "arguments": string(args)},
	}})
	return `{"tool_calls":` + string(call) + `}`
}

func pieces(text string) []string {
	var out []string
	for _, word := range strings.SplitAfter(text, " ") {
		delta, _ := json.Marshal(map[string]string{"content": word})
		out = append(out, string(delta))
	}
	return out
}

func stream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
}

// say streams the deltas and, unless finish is empty, ends the message.
func say(w http.ResponseWriter, finish string, deltas ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, d := range deltas {
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n", d)
	}
	if finish == "" {
		return
	}
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\n", finish)
	io.WriteString(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5,\"total_tokens\":15}}\n\n")
	io.WriteString(w, "data: [DONE]\n\n")
}
