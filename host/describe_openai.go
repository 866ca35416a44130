package host

// The bodies of the OpenAI protocol, as far as they have a meaning here. A request may
// have other members: HeaderIgnored names those that have no effect.
var (
	openaiRequest = Schema{"ChatCompletionRequest", `{
	"type": "object",
	"description": "Members that are not listed are taken and have no effect; the header X-Roster-Ignored of the answer names them.",
	"required": ["model", "messages"],
	"additionalProperties": true,
	"properties": {
		"model": {"type": "string", "minLength": 1, "description": "The name of a profile."},
		"messages": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["role"], "additionalProperties": true, "properties": {
			"role": {"enum": ["system", "developer", "user", "assistant", "tool"]},
			"content": {"type": ["string", "array", "null"], "description": "A text, or parts of the types text and, of a user, image_url with a data URL."},
			"tool_calls": {"type": ["array", "null"], "items": {"type": "object"}},
			"tool_call_id": {"type": ["string", "null"]}
		}}},
		"stream": {"type": ["boolean", "null"]},
		"stream_options": {"type": ["object", "null"], "properties": {"include_usage": {"type": ["boolean", "null"]}}},
		"temperature": {"type": ["number", "null"]},
		"top_p": {"type": ["number", "null"]},
		"max_tokens": {"type": ["integer", "null"], "minimum": 1},
		"max_completion_tokens": {"type": ["integer", "null"], "minimum": 1},
		"reasoning_effort": {"enum": ["none", "minimal", "low", "medium", "high", "xhigh", null]},
		"response_format": {"type": ["object", "null"], "required": ["type"], "properties": {"type": {"enum": ["text", "json_object", "json_schema"]}}},
		"tools": {"type": ["array", "null"], "items": {"type": "object"}, "description": "Tools of the client: with X-Roster-Tools: pass."},
		"tool_choice": {"enum": ["auto", "none", null]},
		"n": {"enum": [1, null]}
	}
}`}
	openaiAnswer = Schema{"ChatCompletion", `{
	"type": "object",
	"required": ["id", "object", "created", "model", "system_fingerprint", "choices", "usage", "roster"],
	"properties": {
		"id": {"type": "string"}, "object": {"const": "chat.completion"}, "created": {"type": "integer"}, "model": {"type": "string"},
		"system_fingerprint": {"type": "string", "description": "The revision of the profile."},
		"choices": {"type": "array", "minItems": 1, "maxItems": 1, "items": {"type": "object"}},
		"usage": {"type": "object", "description": "Of all model calls of the run."},
		"roster": {"type": "object", "properties": {"session_id": {"type": "string"}, "stop_reason": {"type": "string"}}}
	}
}`}
	openaiChunks = Schema{"ChatCompletionChunks", `{
	"type": "string",
	"description": "With stream: server-sent events of data alone, chunks of the object chat.completion.chunk, and [DONE] at the end of an answer that is whole; an OpenAIError ends one that is not."
}`}
	openaiModel = Schema{"OpenAIModel", `{
	"type": "object", "required": ["id", "object", "created", "owned_by"],
	"properties": {"id": {"type": "string"}, "object": {"const": "model"}, "created": {"type": "integer", "description": "When the profile was last changed, in seconds since 1970; 0 for one that a program defines."}, "owned_by": {"const": "roster"}}
}`}
	openaiModels = Schema{"OpenAIModelList", `{
	"type": "object", "required": ["object", "data"],
	"properties": {"object": {"const": "list"}, "data": {"type": "array", "items": {"type": "object"}}}
}`}
	openaiRefusal = Schema{"OpenAIError", `{
	"type": "object", "required": ["error"],
	"properties": {"error": {
		"type": "object", "required": ["message", "type", "param", "code"],
		"properties": {"message": {"type": "string"}, "type": {"type": "string"}, "param": {"type": ["string", "null"]}, "code": {"type": "string"}, "session_id": {"type": "string"}}
	}}
}`}
)

// openaiReplies adds to answers the errors in the form of the protocol.
func openaiReplies(replies []Reply, statuses ...int) []Reply {
	for _, s := range append(statuses, 400, 401, 403, 429, 500, 503) {
		replies = append(replies, Reply{Status: s, About: "An error in the form of the OpenAI protocol.", Body: openaiRefusal})
	}
	return replies
}

func describeOpenAI() map[string]Description {
	return map[string]Description{
		"listOpenAIModels": {Tag: "openai", Summary: "List the profiles as models", Replies: openaiReplies(ok("The models.", openaiModels))},
		"getOpenAIModel": {
			Tag: "openai", Summary: "Show a profile as a model", Params: []Param{{"path", "model", "required", "The profile's name. A slash in it is sent as %2F."}},
			Replies: openaiReplies(ok("The model.", openaiModel), 404),
		},
		"chatCompletions": {
			Tag: "openai", Summary: "Ask, in the form of the OpenAI protocol",
			About: "A profile is a model. Each request begins a session with the messages that it has, unless X-Session-Id names one: that goes on with what follows the last message of the assistant. Closing the connection does not end the run.",
			Params: []Param{
				idempotencyKey,
				{"header", "X-Session-Id", "", "A session to go on with."},
				{"header", HeaderTools, "enum=inside|pass|", "inside: the profile's tools run on the server. pass: the model is told of the request's tools in their place, and the client makes the calls."},
			},
			Body: openaiRequest, Example: `{"model":"reviewer","messages":[{"role":"user","content":"Review this."}]}`,
			Replies: openaiReplies([]Reply{{Status: 200, About: "The answer.", Body: openaiAnswer, Headers: map[string]string{
				"X-Session-Id": "The session.", "X-Chain-Id": "The trace id that all events of the request have.", HeaderIgnored: "The members of the request that have no effect.",
			}}, {Status: 200, Body: openaiChunks, Type: "text/event-stream"}}, 404, 409, 413, 415, 422, 502, 504),
		},
	}
}
