package host

import (
	"github.com/rosterrun/roster/internal/view"
)

// describeLooks is what there is to work with.
func describeLooks() map[string]Description {
	lines := Schema{"Export", `{"type":"string","description":"Lines of JSON: the head, each blob, each event, and the end with a sum over all. They are to be sent back as they are."}`}
	return map[string]Description{
		"profileSpec": {
			Tag: "profiles", Summary: "Show what a profile resolves to", About: "With each value's layer, file and line, and whom it overrides.",
			Params: []Param{nameParam, ifNoneMatch}, Replies: cached("The resolved profile.", view.Explanation{}), Errors: map[int]string{400: "*", 404: noProfile},
		},
		"listModels": {Tag: "models", Summary: "List the models", About: "Those that the catalog has an entry for. Nothing is asked of the network.", Params: []Param{ifNoneMatch}, Replies: cached("The models.", []view.ModelItem{})},
		"getModel": {
			Tag: "models", Summary: "Show what a reference stands for", Params: []Param{{"path", "ref", "required", "provider/model, an id or an alias. A slash in it is sent as %2F."}, ifNoneMatch},
			Replies: cached("The model, its figures, and how it is reached.", view.ModelView{}), Errors: map[int]string{404: "*"},
		},
		"listTools": {Tag: "server", Summary: "List what agents can do at most", About: "GET /profiles/{name}/tools says what one of them may.", Params: []Param{ifNoneMatch}, Replies: cached("The capabilities and their tools.", []view.Capability{})},
		"doctor":    {Tag: "server", Summary: "Say how what a run would need stands", About: "It runs no command, opens no connection and shows no key.", Replies: ok("What was found.", []view.Finding{})},
		"schema":    {Tag: "server", Summary: "The JSON Schema of native profiles", Params: []Param{ifNoneMatch}, Replies: cached("The schema of their frontmatter.", Schema{"JSONSchema", `{"type":"object","description":"A JSON Schema, draft 2020-12."}`})},
		"usage": {
			Tag: "usage", Summary: "Sum up what was used, and what it cost", About: "Of the caller's tenant. Days are in UTC.",
			Params: []Param{
				{"query", "since", "", "The first day: 2026-01-31, today, or 30d for the last 30 days."}, {"query", "until", "", "The last day."},
				{"query", "by", "", "By what it is told apart: day, profile, model, user, key, with commas between; profile,model without it."},
				ofProfile, {"query", "model", "", "Only this model."}, {"query", "user", "", "Only this user."}, {"query", "key", "", "Only the API key with this id."},
				{"query", "limit", "type=integer;min=1;max=1000", "How many rows at most; 1000 without it."},
			},
			Replies: ok("The sums.", view.Usage{}),
		},
		"exportSession": {
			Tag: "sessions", Summary: "Export a session", Params: []Param{rootParam},
			Replies: []Reply{{Status: 200, About: "The session with its children and all that they need.", Body: lines, Type: ndjson}}, Errors: map[int]string{404: "SessionNotFound", 409: "Busy"},
		},
		"importSession": {
			Tag: "sessions", Summary: "Import a session", About: "Under its own id. What was allowed where it is from is not allowed here.",
			Body: lines, BodyType: ndjson, Example: `""`,
			Replies: []Reply{{Status: 201, About: "It is here.", Body: acceptedBody{}, Headers: map[string]string{"Location": "The path of the session."}}}, Errors: map[int]string{400: "InvalidExport", 409: "SessionExists"},
		},
	}
}

func describeServers() map[string]Description {
	server := Param{"path", "name", "required", "The server's name."}
	writes := map[int]string{400: "InvalidServer", 404: "ServerNotFound", 409: "ServerExists ServerNotWritten"}
	return map[string]Description{
		"listServers": {Tag: "mcp-servers", Summary: "List the MCP servers", About: "It starts and reaches nothing.", Params: []Param{ofProfile, ifNoneMatch}, Replies: cached("The servers, also those that have no effect.", []view.Server{}), Errors: map[int]string{400: "*", 404: noProfile, 409: "*"}},
		"getServer":   {Tag: "mcp-servers", Summary: "Show an MCP server", Params: []Param{server, ifNoneMatch}, Replies: cached("The server.", view.Server{}), Errors: map[int]string{404: "ServerNotFound"}},
		"createServer": {
			Tag: "mcp-servers", Summary: "Add an MCP server", About: "It is written into roster.yaml, and nothing is started. In a workspace that is trusted it is trusted too.", Params: []Param{server},
			Body: serverBody{}, Example: `{"url":"https://mcp.example.org/mcp","headers":{"Authorization":"Bearer ${MCP_TOKEN}"}}`,
			Replies: []Reply{{Status: 201, About: "It was added.", Body: serverSaved{}, Headers: map[string]string{"Location": "The path of the server."}}}, Errors: writes,
		},
		"putServer": {
			Tag: "mcp-servers", Summary: "Change or add an MCP server", About: "The whole of it: what is not said is not kept.", Params: []Param{server},
			Body: serverBody{}, Example: `{"url":"https://mcp.example.org/mcp","timeout":"30s"}`,
			Replies: []Reply{{Status: 200, About: "It was changed.", Body: serverSaved{}}, {Status: 201, About: "It was added.", Body: serverSaved{}, Headers: map[string]string{"Location": "The path of the server."}}}, Errors: writes,
		},
		"deleteServer": {Tag: "mcp-servers", Summary: "Take an MCP server away", Params: []Param{server}, Replies: []Reply{{Status: 204, About: "It is gone from roster.yaml."}}, Errors: writes},
		"restartServer": {
			Tag: "mcp-servers", Summary: "Start an MCP server anew", Params: []Param{server}, Replies: ok("It is up.", serverSaved{}),
			Errors: map[int]string{404: "ServerNotFound", 502: "ServerNotStarted"},
		},
	}
}

func describeServer() map[string]Description {
	page := []Reply{
		{Status: 200, About: "The page.", Body: Schema{"Page", `{"type":"string"}`}, Type: "text/html; charset=utf-8", Headers: taggedHeaders},
		{Status: 304, About: "The client has it."},
	}
	spoken := Schema{"MCPAnswer", `{}`}
	agentCard := Schema{"AgentCard", `{"type":"object","description":"A card as the protocol says."}`}
	any := Schema{"OpenAPI", `{"type":"object","description":"An OpenAPI 3.1 document."}`}
	return map[string]Description{
		"health": {Tag: "server", Summary: "Does the server answer?", Replies: ok("It does.", statusBody{})},
		"ready":  {Tag: "server", Summary: "Can prompts be taken and stored?", Replies: ok("They can.", statusBody{}), Errors: map[int]string{503: "NotReady ShuttingDown"}},
		"metrics": {
			Tag: "server", Summary: "What this process has counted", About: "In the text format of Prometheus. It is that of all tenants together, so it takes an admin of the tenant local.",
			Replies: []Reply{{Status: 200, About: "The metrics.", Body: Schema{"Metrics", `{"type":"string"}`}, Type: "text/plain; version=0.0.4; charset=utf-8"}},
		},
		"openapi": {Tag: "server", Summary: "This document", Params: []Param{ifNoneMatch}, Replies: cached("The document.", any)},
		"docs":    {Tag: "server", Summary: "This document as a page", Params: []Param{ifNoneMatch}, Replies: page},
		"defaultAgentCard": {
			Tag: "server", Summary: "The card of the only agent, for clients of the Agent2Agent protocol", About: "It is the profile that is shown, or that is primary, where there is one such.",
			Replies: ok("The card.", agentCard), Errors: map[int]string{404: noProfile},
		},
		"agentCard": {
			Tag: "server", Summary: "The card of a profile, for clients of the Agent2Agent protocol", Params: []Param{nameParam},
			Replies: ok("The card.", agentCard), Errors: map[int]string{404: noProfile},
		},
		"agentRequest": {
			Tag: "server", Summary: "A profile as an agent of the Agent2Agent protocol", About: "JSON-RPC of version 0.3: see that protocol.", Params: []Param{nameParam},
			Body: Schema{"A2AMessage", `{"description":"A JSON-RPC message."}`}, Optional: true, Example: `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"none"}}`,
			Replies: []Reply{{Status: 200, About: "As the protocol says; a stream where the method is one.", Body: Schema{"A2AAnswer", `{}`}, Type: "application/json"}},
			Errors:  map[int]string{404: noProfile},
		},
		"mcp": {
			Tag: "server", Summary: "The profiles as tools, for clients of the Model Context Protocol", About: "The streamable HTTP transport: see that protocol.",
			Body: Schema{"MCPMessage", `{"description":"A JSON-RPC message."}`}, Optional: true, Example: `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
			Replies: []Reply{
				{Status: 200, About: "As the protocol says.", Body: spoken, Type: "application/json, text/event-stream"}, {Status: 202, About: "It was taken."},
				{Status: 400, About: "An error of the protocol, or an Error.", Body: spoken, Type: "text/plain, application/json"}, {Status: 404, About: "There is no such protocol session.", Body: spoken, Type: "text/plain, application/json"},
				{Status: 405, About: "This method is not served.", Body: spoken, Type: "text/plain, application/json"}, {Status: 415, About: "Not JSON.", Body: spoken, Type: "text/plain, application/json"},
			},
		},
	}
}
