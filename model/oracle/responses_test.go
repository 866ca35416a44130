package oracle

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/rosterrun/roster/internal/wire/wiretest"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/openairesponses"
)

const responsesFiles = "../openairesponses/testdata"

func TestResponsesBodies(t *testing.T) {
	for name, r := range requests() {
		t.Run(name, func(t *testing.T) { responsesExchange(t, r, "text.sse") })
	}
	t.Run("reasoning", func(t *testing.T) {
		r := wiretest.Signed("openai-responses", "rs_1:gAAAAB")
		r.Params.Thinking = model.ThinkingHigh
		responsesExchange(t, r, "text.sse")
	})
}

func TestResponsesStreams(t *testing.T) {
	for _, file := range recorded(t, responsesFiles) {
		switch file {
		case "cut.sse", "error.sse", "failed.sse": // no answer
		case "truncated-call.sse": // no JSON
		case "raw-reasoning.sse": // of servers with open weights
		case "length.sse", "filtered.sse": // what was cut stands in no finished item
		default:
			t.Run(file, func(t *testing.T) { responsesExchange(t, wiretest.Conversation(), file) })
		}
	}
}

func responsesExchange(t *testing.T, r *model.Request, file string) {
	url, body := provider(t, filepath.Join(responsesFiles, file))
	client := openai.NewClient(option.WithAPIKey(key), option.WithBaseURL(url), option.WithMaxRetries(0), option.WithHTTPClient(wiretest.Client(t)))
	theirs := responsesStream(t, client, responsesParams(t, r))
	theirs.Body = body()
	m := openairesponses.New(openairesponses.Config{
		Provider: "openai", Model: "gpt-5", BaseURL: url, HTTPClient: wiretest.Client(t),
		Key: func(context.Context) (string, error) { return key, nil },
	})
	compare(t, theirs, ours(t, m, r, body))
}

func responsesStream(t *testing.T, client openai.Client, params responses.ResponseNewParams) exchange {
	t.Helper()
	stream := client.Responses.NewStreaming(t.Context(), params)
	defer stream.Close()
	var e exchange
	var answer responses.Response
	refused := false
	for stream.Next() {
		switch ev := stream.Current().AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			e.Texts = append(e.Texts, ev.Delta)
		case responses.ResponseRefusalDeltaEvent:
			e.Texts = append(e.Texts, ev.Delta)
			refused = true
		case responses.ResponseCompletedEvent:
			answer = ev.Response
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	cached, written := answer.Usage.InputTokensDetails.CachedTokens, answer.Usage.InputTokensDetails.CacheWriteTokens
	e.Whole = whole{
		Text: answer.OutputText(), Stop: "stop",
		Usage: message.Usage{Input: answer.Usage.InputTokens - cached - written, CacheRead: cached, CacheWrite: written, Output: answer.Usage.OutputTokens},
	}
	for _, item := range answer.Output {
		switch item := item.AsAny().(type) {
		case responses.ResponseReasoningItem:
			var paragraphs []string
			for _, s := range item.Summary {
				paragraphs = append(paragraphs, s.Text)
			}
			e.Whole.Thinking += strings.Join(paragraphs, "\n\n")
			e.Whole.Signature += item.ID + ":" + item.EncryptedContent
		case responses.ResponseFunctionToolCall:
			e.Whole.Calls = append(e.Whole.Calls, call{item.CallID, item.Name, decode(t, []byte(item.Arguments))})
			e.Whole.Stop = "tools"
		}
	}
	if refused {
		e.Whole.Text, e.Whole.Stop = strings.Join(e.Texts, ""), "refusal"
	}
	return e
}

func responsesParams(t *testing.T, r *model.Request) responses.ResponseNewParams {
	p := responses.ResponseNewParams{
		Model: "gpt-5", Store: openai.Bool(false), Instructions: openai.String(strings.Join(r.Prefix.System, "\n\n")),
	}
	if r.Params.Temperature != nil {
		p.Temperature, p.TopP = openai.Float(*r.Params.Temperature), openai.Float(*r.Params.TopP)
	}
	if r.Params.MaxTokens > 0 {
		p.MaxOutputTokens = openai.Int(int64(r.Params.MaxTokens))
	}
	if r.Params.ToolChoice != "" {
		p.ToolChoice.OfToolChoiceMode = openai.Opt(responses.ToolChoiceOptions(r.Params.ToolChoice))
	}
	if r.Params.Thinking != "" {
		p.Reasoning = shared.ReasoningParam{Effort: shared.ReasoningEffort(r.Params.Thinking), Summary: "auto"}
		p.Include = []responses.ResponseIncludable{"reasoning.encrypted_content"}
	}
	if s := r.Params.Schema; s != nil {
		p.Text.Format.OfJSONSchema = &responses.ResponseFormatTextJSONSchemaConfigParam{
			Name: s.Name, Schema: schema(t, s.JSON), Strict: openai.Bool(s.Strict),
		}
	}
	for _, def := range r.Prefix.Tools {
		f := responses.FunctionToolParam{Name: def.Name, Parameters: schema(t, def.Schema), Strict: openai.Bool(false)}
		if def.Description != "" {
			f.Description = openai.String(def.Description)
		}
		p.Tools = append(p.Tools, responses.ToolUnionParam{OfFunction: &f})
	}
	for _, m := range r.Messages {
		p.Input.OfInputItemList = append(p.Input.OfInputItemList, responsesItems(m)...)
	}
	if r.Tail != "" {
		p.Input.OfInputItemList = append(p.Input.OfInputItemList, responses.ResponseInputItemParamOfMessage(r.Tail, "user"))
	}
	return p
}

func responsesItems(m *message.Message) (items []responses.ResponseInputItemUnionParam) {
	switch m.Role {
	case message.Extension:
		return nil
	case message.User:
		if len(m.Parts) == 1 {
			return append(items, responses.ResponseInputItemParamOfMessage(m.Text(), "user"))
		}
		return append(items, responses.ResponseInputItemParamOfMessage(responsesContent(m.Parts), "user"))
	}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case message.Text:
			item := responses.ResponseInputItemParamOfMessage(p.Text, "assistant")
			item.OfMessage.Phase = responses.EasyInputMessagePhase(p.Phase)
			items = append(items, item)
		case message.Thinking:
			if id, encrypted, ok := strings.Cut(p.Signature, ":"); ok && p.By != "" {
				items = append(items, responses.ResponseInputItemUnionParam{OfReasoning: &responses.ResponseReasoningItemParam{
					ID: id, EncryptedContent: openai.String(encrypted), Summary: []responses.ResponseReasoningItemSummaryParam{{Text: p.Text}},
				}})
			}
		case message.ToolCall:
			items = append(items, responses.ResponseInputItemParamOfFunctionCall(string(input(p)), p.ID, p.Name))
		case message.ToolResult:
			item := responses.ResponseInputItemFunctionCallOutputParam{CallID: openai.String(p.Call)}
			if len(p.Parts) == 1 {
				item.Output.OfString = openai.String(message.PartsText(p.Parts))
			} else {
				item.Output.OfResponseFunctionCallOutputItemArray = responsesOutput(p.Parts)
			}
			items = append(items, responses.ResponseInputItemUnionParam{OfFunctionCallOutput: &item})
		}
	}
	return items
}

func responsesContent(parts []message.Part) (list responses.ResponseInputMessageContentListParam) {
	for _, p := range parts {
		switch p := p.(type) {
		case message.Text:
			list = append(list, responses.ResponseInputContentParamOfInputText(p.Text))
		case message.Image:
			list = append(list, responses.ResponseInputContentUnionParam{OfInputImage: &responses.ResponseInputImageParam{
				Detail: "auto", ImageURL: openai.String(dataURL(p)),
			}})
		}
	}
	return list
}

func responsesOutput(parts []message.Part) (list responses.ResponseFunctionCallOutputItemListParam) {
	for _, p := range parts {
		switch p := p.(type) {
		case message.Text:
			list = append(list, responses.ResponseFunctionCallOutputItemParamOfInputText(p.Text))
		case message.Image:
			list = append(list, responses.ResponseFunctionCallOutputItemUnionParam{OfInputImage: &responses.ResponseInputImageContentParam{
				Detail: "auto", ImageURL: openai.String(dataURL(p)),
			}})
		}
	}
	return list
}
