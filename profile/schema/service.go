package schema

// serviceShape is what is said of a service that has an OpenAPI document.
var serviceShape = dict(
	Key{Name: "spec", Shape: text, Acts: true, Meaning: "the document: a path from the workspace's root, or an address"},
	Key{Name: "server", Shape: text, Acts: true, Default: "the document's", Meaning: "the address that operations are at"},
	Key{Name: "hosts", Shape: list, Acts: true, Meaning: "further hosts (`HOST`, `HOST:PORT`) that requests and credentials may go to, also private ones"},
	Key{Name: "auth", Acts: true, Meaning: "what the service is shown, or a list of such", Shape: credential.or(Shape{Kind: List, Each: &credential}).saying("a credential, or a list of such")},
	Key{Name: "headers", Shape: texts, Acts: true, Meaning: "headers that it is sent; `${NAME}` stands for a variable"},
	Key{Name: "operations", Shape: list, Acts: true, Default: "all", Meaning: "the operations that count, by their ids; `*` stands for anything"},
	Key{Name: "tags", Shape: list, Acts: true, Default: "all", Meaning: "the tags of those that count"},
	Key{Name: "paths", Shape: list, Acts: true, Default: "all", Meaning: "the paths, or what they begin with, of those that count"},
	Key{Name: "methods", Shape: list, Acts: true, Default: "all", Meaning: "the methods of those that count"},
	Key{Name: "timeout", Shape: duration, Acts: true, Default: "30s", Meaning: "the longest that a call may take, at most 10m"},
	Key{Name: "idempotency-header", Shape: text, Acts: true, Default: "Idempotency-Key", Meaning: "the header that names a call which changes something, so that it is not done twice; `none`: no such header"},
).or(boolean).saying("a map, or false for none of that name")

var credential = dict(
	Key{Name: "bearer-env", Shape: text, Acts: true, Meaning: "the variable that holds a bearer token"},
	Key{Name: "basic-env", Shape: text, Acts: true, Meaning: "or the one that holds `USER:PASSWORD`"},
	Key{Name: "key-env", Shape: text, Acts: true, Meaning: "or the one that holds an API key"},
	Key{Name: "in", Shape: word("header", "query", "cookie"), Acts: true, Default: "as the document says", Meaning: "where the API key goes"},
	Key{Name: "name", Shape: text, Acts: true, Default: "as the document says", Meaning: "the name of that header, parameter or cookie"},
	Key{Name: "scheme", Shape: text, Acts: true, Default: "any", Meaning: "the security scheme of the document that it is for"},
)
