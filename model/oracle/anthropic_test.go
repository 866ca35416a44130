package oracle

import (
	"context"
	"encoding/base64"
	"path/filepath"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/rosterrun/roster/internal/wire/wiretest"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	ouranthropic "github.com/rosterrun/roster/model/anthropic"
)

const anthropicFiles = "../anthropic/testdata"

func TestAnthropicBodies(t *testing.T) {
	for name, r := range requests() {
		t.Run(name, func(t *testing.T) { anthropicExchange(t, r, "text.sse") })
	}
}

func TestAnthropicStreams(t *testing.T) {
	for _, file := range recorded(t, anthropicFiles) {
		switch file {
		case "cut.sse", "error.sse": // no answer
		case "truncated-call.sse": // no JSON
		default:
			t.Run(file, func(t *testing.T) { anthropicExchange(t, wiretest.Conversation(), file) })
		}
	}
}

func anthropicExchange(t *testing.T, r *model.Request, file string) {
	url, body := provider(t, filepath.Join(anthropicFiles, file))
	client := anthropic.NewClient(option.WithAPIKey(key), option.WithBaseURL(url), option.WithMaxRetries(0), option.WithHTTPClient(wiretest.Client(t)))
	theirs := anthropicStream(t, client, anthropicParams(t, r))
	theirs.Body = body()
	m := ouranthropic.New(ouranthropic.Config{
		Provider: "anthropic", Model: "claude-opus-5", BaseURL: url, MaxOutput: 64000, HTTPClient: wiretest.Client(t),
		Key: func(context.Context) (string, error) { return key, nil },
	})
	compare(t, theirs, ours(t, m, r, body))
}

func anthropicStream(t *testing.T, client anthropic.Client, params anthropic.MessageNewParams) exchange {
	t.Helper()
	stream := client.Messages.NewStreaming(t.Context(), params)
	defer stream.Close()
	var e exchange
	var acc anthropic.Message
	for stream.Next() {
		ev := stream.Current()
		if err := acc.Accumulate(ev); err != nil {
			t.Fatal(err)
		}
		if text := ev.Delta.Text; ev.Type == "content_block_delta" && text != "" {
			e.Texts = append(e.Texts, text)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	e.Whole = whole{
		Stop: map[anthropic.StopReason]string{"end_turn": "stop", "tool_use": "tools", "max_tokens": "length", "refusal": "refusal"}[acc.StopReason],
		Usage: message.Usage{
			Input: acc.Usage.InputTokens, Output: acc.Usage.OutputTokens,
			CacheRead: acc.Usage.CacheReadInputTokens, CacheWrite: acc.Usage.CacheCreationInputTokens,
		},
	}
	for _, b := range acc.Content {
		switch b.Type {
		case "text":
			e.Whole.Text += b.Text
		case "thinking":
			e.Whole.Thinking += b.Thinking
			e.Whole.Signature += b.Signature
		case "redacted_thinking":
			e.Whole.Thinking += b.Data
		case "tool_use":
			e.Whole.Calls = append(e.Whole.Calls, call{b.ID, b.Name, decode(t, b.Input)})
		}
	}
	return e
}

func anthropicParams(t *testing.T, r *model.Request) anthropic.MessageNewParams {
	p := anthropic.MessageNewParams{Model: "claude-opus-5", MaxTokens: 64000}
	if r.Params.MaxTokens > 0 {
		p.MaxTokens = int64(r.Params.MaxTokens)
	}
	if r.Params.Temperature != nil {
		p.Temperature, p.TopP = anthropic.Float(*r.Params.Temperature), anthropic.Float(*r.Params.TopP)
	}
	if r.Params.ToolChoice == "none" {
		p.ToolChoice.OfNone = &anthropic.ToolChoiceNoneParam{}
	}
	if r.Params.Thinking != "" {
		p.Thinking.OfAdaptive = &anthropic.ThinkingConfigAdaptiveParam{Display: "summarized"}
		p.OutputConfig.Effort = anthropic.OutputConfigEffort(r.Params.Thinking)
	}
	if s := r.Params.Schema; s != nil {
		p.OutputConfig.Format.Schema = schema(t, s.JSON)
	}
	for _, s := range r.Prefix.System {
		p.System = append(p.System, anthropic.TextBlockParam{Text: s})
	}
	for _, def := range r.Prefix.Tools {
		s := schema(t, def.Schema)
		tool := &anthropic.ToolParam{Name: def.Name, InputSchema: anthropic.ToolInputSchemaParam{Properties: s["properties"]}}
		if required, ok := s["required"].([]any); ok {
			for _, name := range required {
				tool.InputSchema.Required = append(tool.InputSchema.Required, name.(string))
			}
		}
		if def.Description != "" {
			tool.Description = anthropic.String(def.Description)
		}
		p.Tools = append(p.Tools, anthropic.ToolUnionParam{OfTool: tool})
	}
	var marked *anthropic.ContentBlockParamUnion
	p.Messages, marked = anthropicMessages(r)
	if r.Params.Cache == model.CacheAuto {
		ephemeral := anthropic.NewCacheControlEphemeralParam()
		p.System[len(p.System)-1].CacheControl = ephemeral
		*p.Tools[len(p.Tools)-1].GetCacheControl() = ephemeral
		if marked != nil {
			*marked.GetCacheControl() = ephemeral
		}
	}
	return p
}

// anthropicMessages joins messages of one role; the second result is the last
// block of the last message but one.
func anthropicMessages(r *model.Request) ([]anthropic.MessageParam, *anthropic.ContentBlockParamUnion) {
	var all []anthropic.MessageParam
	var ends [][2]int // message and block
	add := func(role anthropic.MessageParamRole, blocks []anthropic.ContentBlockParamUnion) {
		if len(blocks) == 0 {
			return
		}
		if len(all) == 0 || all[len(all)-1].Role != role {
			all = append(all, anthropic.MessageParam{Role: role})
		}
		last := &all[len(all)-1]
		last.Content = append(last.Content, blocks...)
		ends = append(ends, [2]int{len(all) - 1, len(last.Content) - 1})
	}
	for _, m := range r.Messages {
		switch m.Role {
		case message.User, message.Tool:
			add("user", anthropicBlocks(m.Parts))
		case message.Assistant:
			add("assistant", anthropicBlocks(m.Parts))
		}
	}
	sent := len(ends)
	if r.Tail != "" {
		add("user", anthropicBlocks([]message.Part{message.Text{Text: r.Tail}}))
	}
	if sent < 2 {
		return all, nil
	}
	at := ends[sent-2]
	return all, &all[at[0]].Content[at[1]]
}

func anthropicBlocks(parts []message.Part) []anthropic.ContentBlockParamUnion {
	var all []anthropic.ContentBlockParamUnion
	for _, p := range parts {
		switch p := p.(type) {
		case message.Text:
			all = append(all, anthropic.NewTextBlock(p.Text))
		case message.Image:
			all = append(all, anthropic.NewImageBlockBase64(p.MediaType, base64.StdEncoding.EncodeToString(p.Data)))
		case message.Thinking:
			if p.Redacted != "" {
				all = append(all, anthropic.NewRedactedThinkingBlock(p.Redacted))
			} else if p.Signature != "" {
				all = append(all, anthropic.NewThinkingBlock(p.Signature, p.Text))
			}
		case message.ToolCall:
			all = append(all, anthropic.NewToolUseBlock(p.ID, input(p), p.Name))
		case message.ToolResult:
			all = append(all, anthropicResult(p))
		}
	}
	return all
}

func anthropicResult(r message.ToolResult) anthropic.ContentBlockParamUnion {
	b := &anthropic.ToolResultBlockParam{ToolUseID: r.Call}
	for _, p := range anthropicBlocks(r.Parts) {
		b.Content = append(b.Content, anthropic.ToolResultBlockParamContentUnion{OfText: p.OfText, OfImage: p.OfImage})
	}
	if r.Error {
		b.IsError = anthropic.Bool(true)
	}
	return anthropic.ContentBlockParamUnion{OfToolResult: b}
}
