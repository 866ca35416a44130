package host

import "github.com/rosterrun/roster/internal/view"

// describeIdentity is who may come, and what they did.
func describeIdentity() map[string]Description {
	id := Param{"path", "id", "required;pattern=^[0-9a-f]{16}$", "The key's id: not the key itself."}
	made := []Reply{{Status: 201, About: "It is made, and shown this once.", Body: view.Key{}, Headers: map[string]string{"Location": "The path of the key."}}}
	gone := map[int]string{400: "*", 404: "KeyNotFound"}
	return map[string]Description{
		"whoami": {Tag: "server", Summary: "Who am I to this server?", About: "Whom the server takes the caller for, what he may do, and where he is.", Replies: ok("The caller, and the server.", whoBody{})},
		"listFiles": {
			Tag: "server", Summary: "Find files of the workspace by name", About: "For @file in a prompt: without what git ignores and what may not be read. It takes two seconds at most.",
			Params:  []Param{{"query", "q", "max=200", "Letters of the path, in their order; without it, the newest files."}, {"query", "limit", "type=integer;min=1;max=50", "How many at most; 20 without it."}},
			Replies: ok("The files, those first that fit best.", Files{}),
		},
		"listKeys": {Tag: "keys", Summary: "List the API keys of the tenant", About: "The newest first, also those that are revoked. No key is shown.", Replies: ok("The keys.", keyList{})},
		"createKey": {
			Tag: "keys", Summary: "Make an API key", About: "It is of the caller's tenant. A server is told of it with Authorization: Bearer.",
			Body: createKeyBody{}, Example: `{"name":"ci","roles":["runner"]}`, Replies: made, Errors: map[int]string{400: "*"},
		},
		"revokeKey": {Tag: "keys", Summary: "Revoke an API key", About: "It is not taken any more from then on.", Params: []Param{id}, Replies: []Reply{{Status: 204, About: "It is revoked."}}, Errors: gone},
		"rotateKey": {
			Tag: "keys", Summary: "Put a new API key in the place of one", About: "The new one may do what the old one may, which ends after the grace.", Params: []Param{id},
			Body: rotateKeyBody{}, Example: `{"grace":86400}`, Replies: made, Errors: gone,
		},
		"listAudit": {
			Tag: "keys", Summary: "List who did what", About: "The calls of the tenant that change something, and those that were refused, the newest first. They are kept for 90 days.",
			Params: []Param{
				{"query", "user", "", "Whose calls."}, {"query", "key", "", "The id of the API key that was shown."},
				{"query", "action", "", "The operationId."}, {"query", "refused", "enum=true|false|", "Only what was refused: 401, 403 and 429."},
				{"query", "since", "format=date-time", "Not before this time."},
				{"query", "before", "type=integer;min=0", "The page after: what the answer before says under before."},
				{"query", "limit", "type=integer;min=1;max=1000", "How many at most; without it, 100."},
			},
			Replies: ok("The entries.", view.Audit{}),
		},
	}
}
