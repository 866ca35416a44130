package openai

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// Request is what a client asks for.
type Request struct {
	Model string // the name of a profile
	// Said is the conversation before Parts, which are what the user, or a tool of
	// the client, said last. System is what the client wants said to the model
	// behind the profile's prompt.
	Said   []session.BranchMessage
	Parts  []message.Part
	System string
	// Tools are those of the client, for the model to choose from.
	Tools []session.ClientTool
	// Set overrides profile keys, and Schema is what the answer has to fit.
	Set    map[string]string
	Schema []byte
	// Stream asks for chunks, with the usage at the end where Usage is set.
	Stream, Usage bool
	// Ignored lists the members that have no effect, sorted.
	Ignored []string
}

// body is the JSON of a request. What has no effect is gathered in Rest.
type body struct {
	Model               string                    `json:"model"`
	Messages            []wireMessage             `json:"messages"`
	Stream              *bool                     `json:"stream"`
	StreamOptions       *streamOptions            `json:"stream_options"`
	Temperature         *float64                  `json:"temperature"`
	TopP                *float64                  `json:"top_p"`
	MaxTokens           *int                      `json:"max_tokens"`
	MaxCompletionTokens *int                      `json:"max_completion_tokens"`
	ReasoningEffort     *string                   `json:"reasoning_effort"`
	N                   *int                      `json:"n"`
	Stop                jsontext.Value            `json:"stop"`
	ResponseFormat      *responseFormat           `json:"response_format"`
	Tools               []wireTool                `json:"tools"`
	ToolChoice          jsontext.Value            `json:"tool_choice"`
	Functions           jsontext.Value            `json:"functions"`
	FunctionCall        jsontext.Value            `json:"function_call"`
	Logprobs            *bool                     `json:"logprobs"`
	TopLogprobs         *int                      `json:"top_logprobs"`
	Modalities          []string                  `json:"modalities"`
	Audio               jsontext.Value            `json:"audio"`
	WebSearch           jsontext.Value            `json:"web_search_options"`
	Rest                map[string]jsontext.Value `json:",embed"`
}

type streamOptions struct {
	IncludeUsage *bool                     `json:"include_usage"`
	Rest         map[string]jsontext.Value `json:",embed"`
}

type responseFormat struct {
	Type       string `json:"type"`
	JSONSchema *struct {
		Name        string                    `json:"name"`
		Description *string                   `json:"description"`
		Strict      *bool                     `json:"strict"`
		Schema      jsontext.Value            `json:"schema"`
		Rest        map[string]jsontext.Value `json:",embed"`
	} `json:"json_schema"`
	Rest map[string]jsontext.Value `json:",embed"`
}

type wireTool struct {
	Type     string `json:"type"`
	Function *struct {
		Name        string                    `json:"name"`
		Description *string                   `json:"description"`
		Parameters  jsontext.Value            `json:"parameters"`
		Strict      *bool                     `json:"strict"`
		Rest        map[string]jsontext.Value `json:",embed"`
	} `json:"function"`
	Rest map[string]jsontext.Value `json:",embed"`
}

// Decode reads the body of a request. pass says that the client makes the calls of
// its tools itself. Its errors are of type *Error.
func Decode(data []byte, pass bool) (*Request, error) {
	var b body
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, misread(err)
	}
	if b.Model == "" {
		return nil, missing("model", "name a profile (GET /v1/models lists them)")
	}
	if err := b.refuse(); err != nil {
		return nil, err
	}
	r := &Request{Model: b.Model, Stream: set(b.Stream), Usage: b.StreamOptions != nil && set(b.StreamOptions.IncludeUsage)}
	ignored := map[string]bool{}
	ignore(ignored, "", b.Rest)
	if b.StreamOptions != nil {
		ignore(ignored, "stream_options.", b.StreamOptions.Rest)
	}
	var err error
	if r.Set, err = b.set(); err != nil {
		return nil, err
	}
	if r.Schema, err = b.schema(ignored); err != nil {
		return nil, err
	}
	if r.Tools, err = b.tools(pass, ignored); err != nil {
		return nil, err
	}
	c := conversation{ignored: ignored}
	if err := c.read(b.Messages); err != nil {
		return nil, err
	}
	r.Said, r.Parts, r.System = c.said[:len(c.said)-1], c.said[len(c.said)-1].Parts, strings.Join(c.system, "\n\n")
	r.Ignored = slices.Sorted(maps.Keys(ignored))
	return r, nil
}

func missing(param, remedy string) *Error {
	e := invalid(param, "is missing or empty: "+remedy)
	e.Code = "MissingField"
	return e
}

func set(b *bool) bool { return b != nil && *b }

// given says whether a member has a value.
func given(v jsontext.Value) bool { return len(v) > 0 && v.Kind() != jsontext.KindNull }

// ignore notes what has no effect, apart from what says that nothing is wanted.
func ignore(into map[string]bool, prefix string, rest map[string]jsontext.Value) {
	for name, v := range rest {
		switch string(v) {
		case "null", "0", "0.0", "false", "{}", "[]", `""`:
		default:
			into[prefix+name] = true
		}
	}
}

// refuse says of what would make the answer another one that it cannot be had.
func (b *body) refuse() error {
	audio := slices.ContainsFunc(b.Modalities, func(m string) bool { return m != "text" })
	for _, m := range []struct {
		name   string
		wanted bool
		why    string
	}{
		{"n", b.N != nil && *b.N != 1, "must be 1: a run has one answer"},
		{"stop", given(b.Stop) && string(b.Stop) != "[]", "is not supported: cut the answer where you want it to end"},
		{"logprobs", set(b.Logprobs), "is not supported"},
		{"top_logprobs", b.TopLogprobs != nil && *b.TopLogprobs > 0, "is not supported"},
		{"modalities", audio, "must be [\"text\"]"},
		{"audio", given(b.Audio), "is not supported"},
		{"web_search_options", given(b.WebSearch), "is not supported: give the profile the tool websearch"},
		{"functions", given(b.Functions), "is not supported any more: use tools"},
		{"function_call", given(b.FunctionCall), "is not supported any more: use tool_choice"},
	} {
		if m.wanted {
			return invalid(m.name, m.why)
		}
	}
	return nil
}

// The levels of thinking by those of the protocol.
var efforts = map[string]string{"none": "off", "minimal": "minimal", "low": "low", "medium": "medium", "high": "high", "xhigh": "high"}

// set gives the parameters as profile keys.
func (b *body) set() (map[string]string, error) {
	set := map[string]string{}
	number := func(key, name string, v *float64) {
		if v != nil {
			set[key] = strconv.FormatFloat(*v, 'f', -1, 64)
		}
	}
	number("temperature", "temperature", b.Temperature)
	number("top-p", "top_p", b.TopP)
	if most := b.MaxCompletionTokens; most != nil || b.MaxTokens != nil {
		name := "max_completion_tokens"
		if most == nil {
			name, most = "max_tokens", b.MaxTokens
		}
		if *most < 1 {
			return nil, invalid(name, "must be at least 1")
		}
		set["max-tokens"] = strconv.Itoa(*most)
	}
	if b.ReasoningEffort != nil {
		level, ok := efforts[*b.ReasoningEffort]
		if !ok {
			return nil, invalid("reasoning_effort", "must be one of none, minimal, low, medium, high and xhigh")
		}
		set["thinking"] = level
	}
	if len(set) == 0 {
		return nil, nil
	}
	return set, nil
}

// anyObject is the schema of an answer that is to be some JSON object.
const anyObject = `{"type":"object"}`

func (b *body) schema(ignored map[string]bool) ([]byte, error) {
	f := b.ResponseFormat
	if f == nil {
		return nil, nil
	}
	ignore(ignored, "response_format.", f.Rest)
	switch f.Type {
	case "text":
		return nil, nil
	case "json_object":
		return []byte(anyObject), nil
	case "json_schema":
		if f.JSONSchema == nil || !given(f.JSONSchema.Schema) {
			return nil, missing("response_format.json_schema.schema", "give the JSON Schema that the answer has to fit")
		}
		ignore(ignored, "response_format.json_schema.", f.JSONSchema.Rest)
		return f.JSONSchema.Schema, nil
	}
	return nil, invalid("response_format.type", "must be text, json_object or json_schema, not "+quote(f.Type))
}

const maxToolName = 64

// tools reads the tools that the client has.
func (b *body) tools(pass bool, ignored map[string]bool) ([]session.ClientTool, error) {
	if len(b.Tools) > 0 && !pass {
		return nil, invalid("tools", "has tools of your own, and the profile's run inside: send the header X-Roster-Tools: pass to make the calls yourself in their place, or leave tools out")
	}
	offered, err := b.choice(pass)
	if err != nil || !offered {
		return nil, err
	}
	var list []session.ClientTool
	for i, t := range b.Tools {
		at := fmt.Sprintf("tools[%d]", i)
		if t.Type != "function" || t.Function == nil {
			return nil, invalid(at, "must be of type function, with the member function")
		}
		f := t.Function
		if !toolName(f.Name) {
			return nil, invalid(at+".function.name", "must be letters, digits, _ and - of at most 64 characters, not "+quote(f.Name))
		}
		if slices.ContainsFunc(list, func(o session.ClientTool) bool { return o.Name == f.Name }) {
			return nil, invalid(at+".function.name", "is given twice: "+f.Name)
		}
		schema := f.Parameters
		switch {
		case !given(schema):
			schema = jsontext.Value(`{"type":"object","properties":{}}`)
		case schema.Kind() != jsontext.KindBeginObject:
			return nil, invalid(at+".function.parameters", "must be a JSON Schema object")
		}
		ignore(ignored, "tools.", t.Rest)
		ignore(ignored, "tools.function.", f.Rest)
		tool := session.ClientTool{Name: f.Name, Schema: []byte(schema)}
		if f.Description != nil {
			tool.Description = *f.Description
		}
		list = append(list, tool)
	}
	return list, nil
}

// choice reads tool_choice: whether the model is told of the tools.
func (b *body) choice(pass bool) (offered bool, err error) {
	if !given(b.ToolChoice) {
		return true, nil
	}
	switch string(b.ToolChoice) {
	case `"auto"`:
		return true, nil
	case `"none"`:
		if !pass {
			return false, invalid("tool_choice", "is for tools of your own, with the header X-Roster-Tools: pass; a profile's tools are chosen in the profile")
		}
		return false, nil
	}
	return false, invalid("tool_choice", "must be auto or none: a model is not made to call a tool")
}

func toolName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return s != "" && len(s) <= maxToolName
}

// misread says why a body is none.
func misread(err error) *Error {
	var semantic *json.SemanticError
	var syntax *jsontext.SyntacticError
	e := &Error{Status: http.StatusBadRequest, Code: "MalformedBody", Message: "the body is not valid JSON: " + err.Error()}
	switch {
	case errors.As(err, &semantic) && semantic.JSONPointer != "":
		e.Code, e.Param = "InvalidField", place(semantic.JSONPointer)
		e.Message = fmt.Sprintf("%s must not be a JSON %s", e.Param, semantic.JSONKind)
	case errors.As(err, &semantic):
		e.Message = "the body is not a JSON object"
	case errors.As(err, &syntax) && errors.Is(err, jsontext.ErrDuplicateName):
		e.Code, e.Param = "InvalidField", place(syntax.JSONPointer)
		e.Message = e.Param + " is given twice"
	case errors.As(err, &syntax):
		e.Message = fmt.Sprintf("the body is not valid JSON: byte %d: %v", syntax.ByteOffset, syntax.Err)
	}
	return e
}

// place shows a place in a body: a.b for /a/b.
func place(p jsontext.Pointer) string {
	return strings.ReplaceAll(strings.TrimPrefix(string(p), "/"), "/", ".")
}

// quote shows text from outside in a message: escaped, and not too much of it.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strconv.Quote(s)
}
