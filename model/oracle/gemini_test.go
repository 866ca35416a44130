package oracle

import (
	"context"
	"path/filepath"
	"testing"

	"google.golang.org/genai"

	"github.com/rosterrun/roster/internal/wire/wiretest"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/gemini"
)

const geminiFiles = "../gemini/testdata"

func TestGeminiBodies(t *testing.T) {
	for name, r := range requests() {
		if r.Params.Schema != nil { // which models of the series 2 refuse together with tools
			r.Prefix.Tools = nil
		}
		t.Run(name, func(t *testing.T) { geminiExchange(t, r, "text.sse") })
	}
}

func TestGeminiStreams(t *testing.T) {
	for _, file := range recorded(t, geminiFiles) {
		switch file {
		case "cut.sse", "error.sse", "malformed.sse": // no answer
		case "thoughts.sse": // we give an id to a call without one
		default:
			t.Run(file, func(t *testing.T) { geminiExchange(t, wiretest.Conversation(), file) })
		}
	}
}

func geminiExchange(t *testing.T, r *model.Request, file string) {
	url, body := provider(t, filepath.Join(geminiFiles, file))
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		APIKey: key, Backend: genai.BackendGeminiAPI, HTTPClient: wiretest.Client(t), HTTPOptions: genai.HTTPOptions{BaseURL: url},
	})
	if err != nil {
		t.Fatal(err)
	}
	theirs := geminiStream(t, client, r)
	theirs.Body = body()
	m := gemini.New(gemini.Config{
		Provider: "google", Model: "gemini-2.5-flash", BaseURL: url + "/v1beta", HTTPClient: wiretest.Client(t),
		Key: func(context.Context) (string, error) { return key, nil },
	})
	compare(t, theirs, ours(t, m, r, body))
}

func geminiStream(t *testing.T, client *genai.Client, r *model.Request) (e exchange) {
	t.Helper()
	e.Whole.Stop = "refusal"
	for answer, err := range client.Models.GenerateContentStream(t.Context(), "gemini-2.5-flash", geminiContents(t, r), geminiConfig(t, r)) {
		if err != nil {
			t.Fatal(err)
		}
		if u := answer.UsageMetadata; u != nil {
			e.Whole.Usage = message.Usage{
				Input: int64(u.PromptTokenCount - u.CachedContentTokenCount), CacheRead: int64(u.CachedContentTokenCount),
				Output: int64(u.CandidatesTokenCount + u.ThoughtsTokenCount),
			}
		}
		if len(answer.Candidates) == 0 {
			continue
		}
		c := answer.Candidates[0]
		if c.Content != nil {
			for _, p := range c.Content.Parts {
				e.take(p)
			}
		}
		switch c.FinishReason {
		case genai.FinishReasonStop:
			e.Whole.Stop = "stop"
			if len(e.Whole.Calls) > 0 {
				e.Whole.Stop = "tools"
			}
		case genai.FinishReasonMaxTokens:
			e.Whole.Stop = "length"
		}
	}
	return e
}

func (e *exchange) take(p *genai.Part) {
	if p.Text != "" && !p.Thought {
		e.Texts = append(e.Texts, p.Text)
		e.Whole.Text += p.Text
	}
	if p.Thought {
		e.Whole.Thinking += p.Text
	}
	e.Whole.Signature += encoded(p.ThoughtSignature)
	if f := p.FunctionCall; f != nil {
		e.Whole.Calls = append(e.Whole.Calls, call{f.ID, f.Name, any(f.Args)})
	}
}

func geminiConfig(t *testing.T, r *model.Request) *genai.GenerateContentConfig {
	c := &genai.GenerateContentConfig{MaxOutputTokens: int32(r.Params.MaxTokens), SystemInstruction: &genai.Content{}}
	for _, s := range r.Prefix.System {
		c.SystemInstruction.Parts = append(c.SystemInstruction.Parts, genai.NewPartFromText(s))
	}
	if r.Params.Temperature != nil {
		c.Temperature, c.TopP = genai.Ptr(float32(*r.Params.Temperature)), genai.Ptr(float32(*r.Params.TopP))
	}
	if r.Params.ToolChoice == "none" {
		c.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeNone}}
	}
	if r.Params.Thinking == model.ThinkingHigh {
		c.ThinkingConfig = &genai.ThinkingConfig{IncludeThoughts: true, ThinkingBudget: genai.Ptr[int32](24576)}
	}
	if s := r.Params.Schema; s != nil {
		c.ResponseMIMEType, c.ResponseJsonSchema = "application/json", schema(t, s.JSON)
	}
	tool := &genai.Tool{}
	for _, def := range r.Prefix.Tools {
		tool.FunctionDeclarations = append(tool.FunctionDeclarations, &genai.FunctionDeclaration{
			Name: def.Name, Description: def.Description, ParametersJsonSchema: schema(t, def.Schema),
		})
	}
	if len(r.Prefix.Tools) > 0 {
		c.Tools = []*genai.Tool{tool}
	}
	return c
}

func geminiContents(t *testing.T, r *model.Request) (contents []*genai.Content) {
	for _, m := range r.Messages {
		var parts []*genai.Part
		var images []*genai.Part
		for _, p := range m.Parts {
			switch p := p.(type) {
			case message.Text:
				parts = append(parts, genai.NewPartFromText(p.Text))
			case message.Image:
				parts = append(parts, genai.NewPartFromBytes(p.Data, p.MediaType))
			case message.ToolCall:
				args, _ := decode(t, input(p)).(map[string]any)
				parts = append(parts, &genai.Part{FunctionCall: &genai.FunctionCall{ID: p.ID, Name: p.Name, Args: args}})
			case message.ToolResult:
				key := map[bool]string{true: "error", false: "output"}[p.Error]
				parts = append(parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{
					ID: p.Call, Name: p.Name, Response: map[string]any{key: message.PartsText(p.Parts)},
				}})
				for _, img := range p.Parts {
					if img, ok := img.(message.Image); ok {
						images = append(images, genai.NewPartFromText("Images in the result of "+p.Name+" ("+p.Call+"):"), genai.NewPartFromBytes(img.Data, img.MediaType))
					}
				}
			}
		}
		switch m.Role {
		case message.Extension:
		case message.Assistant:
			contents = append(contents, genai.NewContentFromParts(parts, genai.RoleModel))
		default:
			contents = append(contents, genai.NewContentFromParts(append(parts, images...), genai.RoleUser))
		}
	}
	if r.Tail != "" {
		contents = append(contents, genai.NewContentFromText(r.Tail, genai.RoleUser))
	}
	return contents
}
