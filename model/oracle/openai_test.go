package oracle

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/rosterrun/roster/internal/wire/wiretest"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/openaichat"
	"github.com/rosterrun/roster/model/quirk"
)

const openaiFiles = "../openaichat/testdata"

func TestOpenAIBodies(t *testing.T) {
	for name, r := range requests() {
		t.Run(name, func(t *testing.T) { openaiExchange(t, r, "text.sse") })
	}
}

func TestOpenAIStreams(t *testing.T) {
	for _, file := range recorded(t, openaiFiles) {
		switch file {
		case "cut.sse", "error.sse": // no answer
		case "truncated-call.sse": // no JSON
		case "careless.sse": // the library takes two calls of one index for one
		case "reasoning.sse": // the library does not know reasoning
		default:
			t.Run(file, func(t *testing.T) { openaiExchange(t, wiretest.Conversation(), file) })
		}
	}
}

func openaiExchange(t *testing.T, r *model.Request, file string) {
	url, body := provider(t, filepath.Join(openaiFiles, file))
	client := openai.NewClient(option.WithAPIKey(key), option.WithBaseURL(url), option.WithMaxRetries(0), option.WithHTTPClient(wiretest.Client(t)))
	theirs := openaiStream(t, client, openaiParams(t, r))
	theirs.Body = body()
	m := openaichat.New(openaichat.Config{
		Provider: "openai", Model: "gpt-5", BaseURL: url, Quirks: quirk.Set{quirk.MaxTokens: quirk.NewMaxTokens}, HTTPClient: wiretest.Client(t),
		Key: func(context.Context) (string, error) { return key, nil },
	})
	compare(t, theirs, ours(t, m, r, body))
}

func openaiStream(t *testing.T, client openai.Client, params openai.ChatCompletionNewParams) exchange {
	t.Helper()
	stream := client.Chat.Completions.NewStreaming(t.Context(), params)
	defer stream.Close()
	var e exchange
	var acc openai.ChatCompletionAccumulator
	for stream.Next() {
		chunk := stream.Current()
		if !acc.AddChunk(chunk) {
			t.Fatalf("the library does not take %s", chunk.RawJSON())
		}
		if len(chunk.Choices) > 0 {
			if text := chunk.Choices[0].Delta.Content + chunk.Choices[0].Delta.Refusal; text != "" {
				e.Texts = append(e.Texts, text)
			}
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	answer := acc.Choices[0]
	cached, written := acc.Usage.PromptTokensDetails.CachedTokens, acc.Usage.PromptTokensDetails.CacheWriteTokens
	e.Whole = whole{
		Text:  answer.Message.Content + answer.Message.Refusal,
		Stop:  map[string]string{"stop": "stop", "tool_calls": "tools", "length": "length", "content_filter": "refusal"}[answer.FinishReason],
		Usage: message.Usage{Input: acc.Usage.PromptTokens - cached - written, CacheRead: cached, CacheWrite: written, Output: acc.Usage.CompletionTokens},
	}
	if answer.Message.Refusal != "" {
		e.Whole.Stop = "refusal"
	}
	for _, c := range answer.Message.ToolCalls {
		e.Whole.Calls = append(e.Whole.Calls, call{c.ID, c.Function.Name, decode(t, []byte(c.Function.Arguments))})
	}
	return e
}

func openaiParams(t *testing.T, r *model.Request) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{
		Model:         "gpt-5",
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
		Messages:      []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(strings.Join(r.Prefix.System, "\n\n"))},
	}
	if r.Params.Temperature != nil {
		p.Temperature, p.TopP = openai.Float(*r.Params.Temperature), openai.Float(*r.Params.TopP)
	}
	if r.Params.MaxTokens > 0 {
		p.MaxCompletionTokens = openai.Int(int64(r.Params.MaxTokens))
	}
	if r.Params.ToolChoice != "" {
		p.ToolChoice.OfAuto = openai.String(r.Params.ToolChoice)
	}
	p.ReasoningEffort = shared.ReasoningEffort(r.Params.Thinking)
	if s := r.Params.Schema; s != nil {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: s.Name, Schema: schema(t, s.JSON), Strict: openai.Bool(s.Strict),
		}}
	}
	for _, def := range r.Prefix.Tools {
		f := shared.FunctionDefinitionParam{Name: def.Name, Parameters: schema(t, def.Schema)}
		if def.Description != "" {
			f.Description = openai.String(def.Description)
		}
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(f))
	}
	for _, m := range r.Messages {
		p.Messages = append(p.Messages, openaiMessages(m)...)
	}
	if r.Tail != "" {
		p.Messages = append(p.Messages, openai.UserMessage(r.Tail))
	}
	return p
}

func openaiMessages(m *message.Message) []openai.ChatCompletionMessageParamUnion {
	var all []openai.ChatCompletionMessageParamUnion
	switch m.Role {
	case message.User:
		if len(m.Parts) == 1 {
			return append(all, openai.UserMessage(m.Text()))
		}
		return append(all, openai.UserMessage(openaiParts(m.Parts)))
	case message.Assistant:
		var a openai.ChatCompletionAssistantMessageParam
		a.Content.OfString = openai.String(m.Text())
		for _, c := range m.Calls() {
			a.ToolCalls = append(a.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
				OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
					ID:       c.ID,
					Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: string(input(c))},
				},
			})
		}
		return append(all, openai.ChatCompletionMessageParamUnion{OfAssistant: &a})
	case message.Tool:
		var images []message.Part
		for _, p := range m.Parts {
			r := p.(message.ToolResult)
			all = append(all, openai.ToolMessage(message.PartsText(r.Parts), r.Call))
			for _, p := range r.Parts {
				if _, ok := p.(message.Image); ok {
					images = append(images, message.Text{Text: "Images in the result of " + r.Name + " (" + r.Call + "):"}, p)
				}
			}
		}
		if len(images) > 0 {
			all = append(all, openai.UserMessage(openaiParts(images)))
		}
	}
	return all
}

func openaiParts(parts []message.Part) []openai.ChatCompletionContentPartUnionParam {
	var all []openai.ChatCompletionContentPartUnionParam
	for _, p := range parts {
		switch p := p.(type) {
		case message.Text:
			all = append(all, openai.TextContentPart(p.Text))
		case message.Image:
			all = append(all, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: dataURL(p)}))
		}
	}
	return all
}
