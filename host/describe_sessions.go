package host

import (
	"github.com/rosterrun/roster/internal/view"
)

// eventStream is what the streams of events have.
var eventStream = Schema{"EventStream", `{
	"type": "string",
	"description": "Server-sent events: event is the type, data an Event, id its seq. What is live only (delta, message.partial, message.reset, context_usage, fell_behind) has no id. A comment is sent where nothing else was for 15 seconds."
}`}

// feedStream is what the stream of a tenant's events has.
var feedStream = Schema{"FeedStream", `{
	"type": "string",
	"description": "Server-sent events: event is the type, data an Event, id an opaque position. fell_behind, without an id, says from where a reader goes on that was too slow. Ids also come without an event, and comments where nothing else was for 15 seconds."
}`}

// rerunBody is askBody without what makes another prompt.
var rerunBody = Schema{"RerunBody", `{
	"allOf": [
		{"$ref": "#/components/schemas/AskBody"},
		{"type": "object", "properties": {
			"message": {"description": "The id of the prompt's message; without it, the last prompt."},
			"attachments": {"maxItems": 0},
			"command": {"type": "null"},
			"onBusy": {"enum": ["reject", ""]}
		}}
	]
}`}

// firstBody is askBody without the session.
var firstBody = Schema{"FirstPrompt", `{
	"allOf": [
		{"$ref": "#/components/schemas/AskBody"},
		{"type": "object", "required": ["agentId"], "properties": {"agentId": {"minLength": 1}, "sessionId": {"enum": [""]}}}
	]
}`}

func describeRuns() map[string]Description {
	refused := map[int]string{
		400: "*", 403: "ExecutingKey CommandDenied", 404: "ProfileNotFound SessionNotFound CommandNotFound MessageNotFound *", 409: "*",
		422: "IdempotencyConflict", 502: "*", 503: "*", 504: "*",
	}
	about := "agentId is the profile's name; without it, the session's profile answers. Closing the connection does not end the run."
	ran := map[string]string{"X-Session-Id": "The session.", "X-Chain-Id": "The trace id that all events of the request have."}
	accepted := []Reply{{Status: 202, About: "It is stored, and will be answered.", Body: acceptedBody{}, Headers: ran}}
	return map[string]Description{
		"chat": {
			Tag: "runs", Summary: "Ask, and wait for the answer", About: about, Params: []Param{idempotencyKey},
			Body: askBody{}, Example: `{"agentId":"reviewer","message":"Review this."}`,
			Replies: []Reply{
				{Status: 200, About: "The answer.", Body: answerBody{}, Headers: ran},
				{Status: 202, About: "The run waits for a person: with approvals wait.", Body: waitingBody{}, Headers: ran},
			},
			Errors: refused,
		},
		"createSession": {
			Tag: "sessions", Summary: "Begin a session", About: "With its first prompt, without waiting for the answer: …/events shows it.", Params: []Param{idempotencyKey},
			Body: firstBody, Example: `{"agentId":"reviewer","message":"Review this."}`,
			Replies: []Reply{{Status: 201, About: "It is stored, and will be answered.", Body: acceptedBody{}, Headers: map[string]string{"Location": "The path of the session.", "X-Session-Id": ran["X-Session-Id"], "X-Chain-Id": ran["X-Chain-Id"]}}},
			Errors:  refused,
		},
		"stream": {
			Tag: "runs", Summary: "Ask, and see all that happens", About: about + " The stream ends after the event loop.end of its loop.",
			Params: []Param{idempotencyKey, lastEventParam}, Body: askBody{}, Example: `{"agentId":"reviewer","message":"Review this."}`,
			Replies: []Reply{{Status: 200, About: "The events.", Body: eventStream, Type: "text/event-stream", Headers: ran}}, Errors: refused,
		},
		"compare": {
			Tag: "runs", Summary: "Ask several at once, and go on with one answer",
			About: "Each candidate answers on a copy of the session, and nobody is asked for anything: what would be asked is denied. The session goes on with the answer that is picked, the others are kept as sessions that branch off it. Closing the connection ends nothing.",
			Body:  compareBody{}, Example: `{"message":"What is this for?","candidates":[{"agentId":"reviewer"},{"agentId":"reviewer","overrides":{"temperature":0.9}}],"pick":"fewest"}`,
			Replies: []Reply{{Status: 200, About: "What came of it.", Body: view.Compared{}, Headers: ran}},
			Errors:  map[int]string{400: "*", 403: "ExecutingKey", 404: "ProfileNotFound SessionNotFound *", 409: "*", 502: "NoAnswer *", 503: "*"},
		},
		"promptSession": {
			Tag: "runs", Summary: "Ask, and do not wait", Params: []Param{rootParam, idempotencyKey}, Body: askBody{}, Example: `{"message":"And this?","onBusy":"queue"}`,
			Replies: accepted, Errors: refused,
		},
		"rerunSession": {
			Tag: "runs", Summary: "Have a prompt answered anew", About: "message is the id of the prompt's; without one it is the last.",
			Params: []Param{rootParam, idempotencyKey}, Body: rerunBody, Optional: true, Example: `{}`,
			Replies: accepted, Errors: refused,
		},
		"steerSession": {
			Tag: "runs", Summary: "Tell a running agent something", Params: []Param{rootParam}, Body: noteBody{}, Example: `{"message":"Skip the tests."}`,
			Replies: accepted, Errors: noSession,
		},
		"followupSession": {
			Tag: "runs", Summary: "Say what comes next", About: "It is told when the loop would end.", Params: []Param{rootParam}, Body: noteBody{}, Example: `{"message":"Then sum it up."}`,
			Replies: accepted, Errors: noSession,
		},
		"cancelSession": {
			Tag: "runs", Summary: "End the running loop", About: "For a session that is idle it changes nothing.", Params: []Param{rootParam}, Body: cancelBody{}, Optional: true, Example: `{"reason":"not needed"}`,
			Replies: accepted, Errors: noSession,
		},
	}
}

func describeSessions() map[string]Description {
	return map[string]Description{
		"listSessions": {
			Tag: "sessions", Summary: "List the sessions", About: "The newest first.",
			Params: []Param{
				{"query", "status", "enum=idle|running|waiting|failed|", "Only those."},
				{"query", "profile", "", "The name of a profile: only sessions that have it."},
				{"query", "before", "", "The id of a session: only older ones."},
				{"query", "limit", "type=integer;min=1;max=1000", "How many at most; 100 without it, 20 with q."},
				{"query", "q", "", "Words that the session has to hold."},
			},
			Replies: []Reply{{Status: 200, About: "One page.", Body: []sessionView{}, Headers: map[string]string{"Link": "The next page, if there are more."}}},
		},
		"getSession":      {Tag: "sessions", Summary: "Show a session", Params: []Param{sessionParam}, Replies: ok("The session.", sessionView{}), Errors: noSession},
		"sessionMessages": {Tag: "sessions", Summary: "List the messages", Params: []Param{sessionParam, {"query", "full", "enum=1|true|", "As they were before any was summed up, cut or left out."}}, Replies: ok("The branch that the next request sends.", []view.Message{}), Errors: noSession},
		"sessionTree":     {Tag: "sessions", Summary: "List the messages of all branches", Params: []Param{sessionParam}, Replies: ok("All messages.", []view.TreeMessage{}), Errors: noSession},
		"sessionRequest": {
			Tag: "sessions", Summary: "Show what the model was sent", Params: []Param{sessionParam, {"path", "turn", "required;type=integer;min=1", "The turn, counted over the session."}, {"query", "for", "", "What it was asked aside, as approve."}},
			Replies: ok("The request, byte for byte.", view.Request{}), Errors: map[int]string{404: "SessionNotFound NoRequest"},
		},
		"sessionEvents": {
			Tag: "sessions", Summary: "Follow the events of a session", About: "Live and from any event on; it stays open unless until says otherwise. Last-Event-ID wins over after.",
			Params:  []Param{sessionParam, {"query", "after", "type=integer;min=0", "The number of an event: what follows it is sent."}, {"query", "until", "enum=idle|", "End when the session has nothing left to do."}, lastEventParam},
			Replies: []Reply{{Status: 200, About: "The events.", Body: eventStream, Type: "text/event-stream"}}, Errors: noSession,
		},
		"tenantEvents": {
			Tag: "sessions", Summary: "Follow the stored events of all sessions",
			About: "In the order in which they were committed; what is live only, such as delta, is not among them. It begins now, and with an id: a client that comes back with it has missed nothing. It stays open.",
			Params: []Param{
				{"query", "after", "", "The id of an event of this stream: what follows it is sent. 0: all."},
				{"query", "type", "", "Types of events, separated by commas: only those, as in loop.start,loop.end."},
				{"header", "Last-Event-ID", "", "As after, which it wins over."},
			},
			Replies: []Reply{{Status: 200, About: "The events.", Body: feedStream, Type: "text/event-stream"}}, Errors: map[int]string{400: "*"},
		},
		"patchSession": {
			Tag: "sessions", Summary: "Set the model, thinking or temperature", About: "From the next loop on; null takes it back.", Params: []Param{rootParam}, Body: settingsBody{}, Example: `{"temperature":0.5}`,
			Replies: ok("What the session sets over its profile now.", settingsAnswer{}), Errors: map[int]string{400: "*", 404: "SessionNotFound", 409: "*"},
		},
		"deleteSession": {Tag: "sessions", Summary: "Remove a session for good", Params: []Param{rootParam}, Replies: []Reply{{Status: 204, About: "It is gone, with its events."}}, Errors: map[int]string{404: "SessionNotFound", 409: "*"}},
	}
}

func describeWork() map[string]Description {
	here := map[int]string{400: "*", 404: "SessionNotFound MessageNotFound", 409: "*"}
	return map[string]Description{
		"forkSession": {
			Tag: "sessions", Summary: "Begin a session with a copy of this one", Params: []Param{rootParam}, Body: forkBody{}, Optional: true, Example: `{}`,
			Replies: []Reply{{Status: 201, About: "The new session.", Body: forkedBody{}}}, Errors: here,
		},
		"revertSession": {
			Tag: "sessions", Summary: "Go on from an earlier message", Params: []Param{rootParam}, Body: revertBody{}, Optional: true, Example: `{}`,
			Replies: ok("What the last message is now.", revertedBody{}), Errors: here,
		},
		"undoSession": {
			Tag: "sessions", Summary: "Take back what a session has changed of files", Params: []Param{rootParam}, Body: undoBody{}, Optional: true, Example: `{"dryRun":true}`,
			Replies: ok("What it has done, or would do.", view.Undo{}), Errors: here,
		},
		"listApprovals":    {Tag: "approvals", Summary: "List what waits for a person", Replies: ok("All of the tenant's.", []view.Approval{})},
		"sessionApprovals": {Tag: "approvals", Summary: "List what a session waits for", Params: []Param{sessionParam}, Replies: ok("Its approvals, and those of its children.", []view.Approval{}), Errors: noSession},
		"answerApproval": {
			Tag: "approvals", Summary: "Allow or refuse a tool call", About: "The run goes on by itself.", Params: []Param{{"path", "id", "required", "The approval's id."}},
			Body: approvalBody{}, Example: `{"answer":"once"}`,
			Replies: ok("What was answered.", answeredBody{}), Errors: map[int]string{400: "*", 404: "ApprovalNotFound SessionNotFound", 409: "AlreadyAnswered *"},
		},
		"answerQuestion": {
			Tag: "approvals", Summary: "Answer what a session asks", About: "The run goes on by itself.", Params: []Param{rootParam}, Body: replyBody{}, Example: `{"text":"The second one."}`,
			Replies: ok("What was answered.", answeredBody{}), Errors: map[int]string{400: "*", 404: "SessionNotFound ApprovalNotFound", 409: "AlreadyAnswered *"},
		},
	}
}
