package oracle

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

const serverYAML = "providers:\n  fake:\n    api: script\n    base-url: replies.yaml\n    models: {text: {context-window: 1000}}\n"

const replies = `loop: true
replies:
- {when: {contains: What is the weather}, tools: [{name: weather, input: {city: Bern}}]}
- {when: {contains: 12 degrees}, text: It is cold.}
- {when: {contains: Hi}, text: Good day to you., usage: {input: 100, output: 7, cache-read: 40}}
`

// place is a workspace, and the program that serves it.
type place struct {
	t        *testing.T
	bin, dir string
	env      []string
}

// newPlace builds the program, and writes a workspace with a profile.
func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{t: t, bin: filepath.Join(t.TempDir(), "roster"), dir: t.TempDir()}
	p.env = append(os.Environ(), "ROSTER_HOME="+t.TempDir(), "ROSTER_TRUST=1")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", p.bin, "./cmd/roster")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.write("replies.yaml", replies)
	p.write("profiles/team/echo.md", "---\nmodel: fake/text\n---\nBe brief.\n")
	p.write("roster.yaml", serverYAML)
	return p
}

func (p *place) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.bin, append(args, "--dir", p.dir, "--json", "--quiet")...)
	cmd.Env, cmd.Stderr = p.env, os.Stderr
	return cmd
}

// key makes an API key.
func (p *place) key(role string) string {
	p.t.Helper()
	var made struct{ Key string }
	out, err := p.command(p.t.Context(), "keys", "add", role, "--role", role).Output()
	if err == nil {
		err = json.Unmarshal(out, &made)
	}
	if err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	return made.Key
}

// serve starts roster serve, as a user does, and returns the URL that it says.
func (p *place) serve() string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	cmd := p.command(ctx, "serve", "--addr", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		defer cancel()
		if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
			p.t.Errorf("the server ended with %v", err)
		}
	})
	var said struct{ URL string }
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &said)
	}
	if err != nil {
		p.t.Fatalf("the server said %q: %v", line, err)
	}
	return said.URL
}

// TestOpenAIClient has OpenAI's library talk to a server of ours as to theirs.
func TestOpenAIClient(t *testing.T) {
	p := newPlace(t)
	c := openai.NewClient(option.WithBaseURL(p.serve()+"/v1"), option.WithAPIKey("none"))
	t.Run("models", func(t *testing.T) { lists(t, &c) })
	t.Run("stream", func(t *testing.T) { streams(t, &c) })
	t.Run("tools", func(t *testing.T) { callsTools(t, &c) })
	t.Run("errors", func(t *testing.T) { raises(t, &c) })
}

// TestOpenAIClientKeys: the library's key is one of ours, and what it is refused is the
// error that it knows.
func TestOpenAIClientKeys(t *testing.T) {
	p := newPlace(t)
	p.write("roster.yaml", serverYAML+"server: {auth: {kind: keys}}\n")
	viewer, runner := p.key("viewer"), p.key("runner")
	url := p.serve()
	as := func(key string) *openai.Client {
		c := openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey(key), option.WithMaxRetries(0))
		return &c
	}
	if list, err := as(viewer).Models.List(t.Context()); err != nil || len(list.Data) != 1 {
		t.Errorf("a viewer sees %+v, %v", list, err)
	}
	if answer, err := as(runner).Chat.Completions.New(t.Context(), ask("Hi")); err != nil || answer.Choices[0].Message.Content == "" {
		t.Errorf("a runner gets %+v, %v", answer, err)
	}
	p.write("roster.yaml", serverYAML+"server: {auth: {kind: keys}, limits: {key: {requests-per-minute: 2}, tenant: {tokens-per-day: 100}}}\n")
	url = p.serve()
	for _, e := range []struct {
		name, key string
		want      []any
		final     bool // the library does not ask again by itself
	}{
		{"another key", "rk_none", []any{401, "authentication_error", "invalid_api_key"}, false},
		{"another role", viewer, []any{403, "permission_error", "MissingRole"}, false},
		{"nothing left to spend", runner, []any{429, "insufficient_quota", "insufficient_quota"}, true},
		{"still nothing", runner, []any{429, "insufficient_quota", "insufficient_quota"}, true},
		{"too often", runner, []any{429, "rate_limit_error", "rate_limit_exceeded"}, false},
	} {
		_, err := as(e.key).Chat.Completions.New(t.Context(), ask("Hi"))
		var refused *openai.Error
		if !errors.As(err, &refused) {
			t.Fatalf("%s: %v", e.name, err)
		}
		if diff := cmp.Diff(e.want, []any{refused.StatusCode, refused.Type, refused.Code}); diff != "" {
			t.Errorf("%s: %s %s", e.name, refused.Message, diff)
		}
		head := refused.Response.Header
		if (head.Get("X-Should-Retry") == "false") != e.final || (head.Get("Retry-After") != "") != (refused.StatusCode == 429) {
			t.Errorf("%s: %v", e.name, head)
		}
	}
}

func ask(text string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model: "team/echo", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(text)},
	}
}

func lists(t *testing.T, c *openai.Client) {
	var names []string
	pages := c.Models.ListAutoPaging(t.Context())
	for pages.Next() {
		names = append(names, pages.Current().ID)
	}
	if diff := cmp.Diff([]string{"team/echo"}, names); diff != "" || pages.Err() != nil {
		t.Error(diff, pages.Err())
	}
	m, err := c.Models.Get(t.Context(), "team/echo")
	if changed := time.Unix(m.Created, 0); err != nil || m.ID != "team/echo" || m.OwnedBy != "roster" || time.Since(changed) > time.Hour {
		t.Errorf("%+v %v", m, err)
	}
}

func streams(t *testing.T, c *openai.Client) {
	p := ask("Hi")
	p.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := c.Chat.Completions.NewStreaming(t.Context(), p)
	var all openai.ChatCompletionAccumulator
	pieces := 0
	for stream.Next() {
		pieces++
		if !all.AddChunk(stream.Current()) {
			t.Errorf("a chunk does not fit: %s", stream.Current().RawJSON())
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	got := []any{all.Choices[0].Message.Content, all.Choices[0].FinishReason, all.Usage.PromptTokens, all.Usage.CompletionTokens, all.Usage.PromptTokensDetails.CachedTokens}
	if diff := cmp.Diff([]any{"Good day to you.", "stop", int64(140), int64(7), int64(40)}, got); diff != "" || pieces < 4 {
		t.Errorf("%d pieces: %s", pieces, diff)
	}
	if made := time.Unix(all.Created, 0); time.Since(made) > time.Hour {
		t.Errorf("created %v", made)
	}
}

// callsTools makes the calls of a tool of its own, over both ways of answering.
func callsTools(t *testing.T, c *openai.Client) {
	pass := option.WithHeader("X-Roster-Tools", "pass")
	p := ask("What is the weather?")
	p.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "weather"})}
	stream := c.Chat.Completions.NewStreaming(t.Context(), p, pass)
	var all openai.ChatCompletionAccumulator
	finished := 0
	for stream.Next() {
		all.AddChunk(stream.Current())
		if _, ok := all.JustFinishedToolCall(); ok {
			finished++
		}
	}
	if err := stream.Err(); err != nil || finished != 1 {
		t.Fatalf("%d calls, %v", finished, err)
	}
	said := all.Choices[0].Message
	if len(said.ToolCalls) != 1 || said.ToolCalls[0].Function.Arguments != `{"city":"Bern"}` || all.Choices[0].FinishReason != "tool_calls" {
		t.Fatalf("%+v", all.Choices)
	}
	p.Messages = append(p.Messages, said.ToParam(), openai.ToolMessage("12 degrees", said.ToolCalls[0].ID))
	answer, err := c.Chat.Completions.New(t.Context(), p, pass)
	if err != nil {
		t.Fatal(err)
	}
	if got := answer.Choices[0].Message.Content; got != "It is cold." {
		t.Errorf("%q", got)
	}
}

func raises(t *testing.T, c *openai.Client) {
	for _, e := range []struct {
		name string
		set  func(*openai.ChatCompletionNewParams)
		want []any
	}{
		{"unknown model", func(p *openai.ChatCompletionNewParams) { p.Model = "nobody" }, []any{404, "invalid_request_error", "model_not_found", ""}},
		{"two answers", func(p *openai.ChatCompletionNewParams) { p.N = openai.Int(2) }, []any{400, "invalid_request_error", "InvalidField", "n"}},
		{"no messages", func(p *openai.ChatCompletionNewParams) { p.Messages = nil }, []any{400, "invalid_request_error", "MissingField", "messages"}},
	} {
		p := ask("Hi")
		e.set(&p)
		_, err := c.Chat.Completions.New(t.Context(), p)
		var refused *openai.Error
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v", e.name, err)
			continue
		}
		if diff := cmp.Diff(e.want, []any{refused.StatusCode, refused.Type, refused.Code, refused.Param}); diff != "" || refused.Message == "" {
			t.Errorf("%s: %s %s", e.name, refused.Message, diff)
		}
	}
}
