package trust

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// Kind sorts executing items.
type Kind string

// The kinds.
const (
	Hook       Kind = "hook"
	Server     Kind = "mcp-server"
	Service    Kind = "openapi"
	Tool       Kind = "tool"
	KeyCommand Kind = "key-command"
	Command    Kind = "!command"
	Variable   Kind = "variable"
	BaseURL    Kind = "base-url"
	Headers    Kind = "headers"
	KeyEnv     Kind = "key-env"
	Store      Kind = "store"
	Dispatch   Kind = "dispatch"
	Listen     Kind = "server"
	Sandbox    Kind = "sandbox"
	Path       Kind = "path"
	Telemetry  Kind = "telemetry"
	Search     Kind = "search"
	Web        Kind = "web"
)

// Key is one row of the table of executing keys.
type Key struct {
	Kind Kind
	// Name is the key as people write it, and In where.
	Name, In string
	// Does says what it would do, and Pins what its digest covers.
	Does, Pins string

	key  string // at the top of a profile or of roster.yaml; empty: it is found where it is read
	find func(key string, n *yaml.Node) []found
}

// found is one item in a value. It is taken out of the value by drop.
type found struct {
	kind Kind
	key  string
	node *yaml.Node // what matters
	drop func()
}

// Where keys stand.
const (
	anywhere  = "profiles, `defaults`, `roster.yaml`"
	providers = "`providers` of `roster.yaml` and `models.yaml`"
)

// keys is the one table of what executes. It is never written.
var keys = [...]Key{
	{Kind: Hook, Name: "`hooks`", In: anywhere, Does: "starts a command or calls an address", Pins: "the event and the whole entry", key: "hooks", find: findHooks},
	{Kind: Server, Name: "`mcp-servers`", In: anywhere + ", `.mcp.json`, `opencode.json`", Does: "starts a server or connects to one", Pins: "the whole entry", key: "mcp-servers", find: findNamed(Server)},
	{Kind: Service, Name: "`openapi`", In: anywhere, Does: "connects to a service", Pins: "the whole entry", key: "openapi", find: findNamed(Service)},
	{Kind: Tool, Name: "`tools/NAME.yaml`", In: "directory profiles", Does: "runs a command", Pins: "`command`", key: "user-tools", find: findTools},
	{Kind: Tool, Name: "`toolsets`", In: "docker profiles", Does: "starts or connects to what a toolset names", Pins: "the whole entry", key: "toolsets", find: findToolsets},
	{Kind: KeyCommand, Name: "`key-command`", In: providers + ", `model-config`", Does: "runs a command that prints a key", Pins: "all the executing keys of the provider"},
	{Kind: Command, Name: "a header that begins with `!`", In: providers + ", `model-config`", Does: "runs a command that prints the value", Pins: "all the executing keys of the provider"},
	{Kind: Command, Name: "``!`command` `` and `!{command}`", In: "files of commands", Does: "runs a command line when the command is called", Pins: "the line"},
	{Kind: Variable, Name: "`${VAR}`", In: "profiles of the `config` dialect, `headers`", Does: "reads the environment", Pins: "the key and the names of the variables"},
	{Kind: BaseURL, Name: "`base-url`", In: providers + ", `model-config`", Does: "sends prompts beyond this machine, or what is meant for a provider that is built in or yours elsewhere", Pins: "all the executing keys of the provider", key: "model-config", find: findModel},
	{Kind: Headers, Name: "`headers`", In: providers + ", `model-config`", Does: "the same", Pins: "all the executing keys of the provider"},
	{Kind: KeyEnv, Name: "`key-env`", In: providers + ", `model-config`", Does: "sends what a variable holds to the provider", Pins: "all the executing keys of the provider"},
	{Kind: Store, Name: "`store`, `store-sync`", In: "`roster.yaml`", Does: "says where sessions are written, and how safely", Pins: "the value"},
	{Kind: Dispatch, Name: "`dispatch`", In: "`roster.yaml`", Does: "connects to where runs are handed out", Pins: "the value"},
	{Kind: Listen, Name: "`server`", In: "`roster.yaml`", Does: "says where the server listens and whom it lets in", Pins: "each key under it"},
	{Kind: Sandbox, Name: "`sandbox: none`, `maintenance`, `sandbox.image`", In: anywhere, Does: "lets commands out of the sandbox, or fetches what they run in", Pins: "the value", key: "sandbox", find: findSandbox},
	{Kind: Path, Name: "a path outside of the workspace", In: "`profiles`, `skills`, a script's `base-url`, `sandbox.read`", Does: "reads files of yours", Pins: "the path"},
	{Kind: Telemetry, Name: "`telemetry`", In: "`roster.yaml`", Does: "sends what is measured somewhere", Pins: "the whole value", key: "telemetry", find: findWhole(Telemetry)},
	{Kind: Search, Name: "`search`", In: "`roster.yaml`", Does: "connects to a search service", Pins: "the whole value", key: "search", find: findWhole(Search)},
	{Kind: Web, Name: "`web`", In: "`roster.yaml`", Does: "lets `webfetch` and the browser reach private addresses, sends what is asked for through a proxy, or names the program that is the browser", Pins: "the whole value", key: "web", find: findWhole(Web)},
}

// Keys lists the executing keys.
func Keys() []Key { return append([]Key(nil), keys[:]...) }

// InObject names the executing keys in a JSON object of profile keys, as a
// request may have them: nested, or dotted as in model-config.base-url. variables
// says that texts may name some, as in profiles of the config dialect. What
// cannot be read is named as a whole.
func InObject(object []byte, variables bool) []string {
	var doc yaml.Node // JSON is YAML
	limits := yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth)))
	if err := yaml.Load(object, &doc, limits); err != nil || len(doc.Content) == 0 {
		return []string{"the body"}
	}
	var out []string
	entries(deref(doc.Content[0]), func(name string, value *yaml.Node, _ func()) {
		path := strings.Split(name, ".")
		for _, part := range slices.Backward(path[1:]) {
			value = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{scalar(Kebab(part)), value}}
		}
		for _, f := range find(path[0], value) {
			out = append(out, f.key)
		}
		if variables && value.Kind == yaml.ScalarNode && profile.HasVars(value.Value) {
			out = append(out, name)
		}
	})
	return slices.Compact(out)
}

// OfValue lists the items in the value of a key at the top of roster.yaml.
func OfValue(key string, at source.Origin, value *yaml.Node) []Item {
	var out []Item
	for _, f := range find(key, value) {
		if f.node.Line > 0 {
			at.Line, at.Column = f.node.Line, f.node.Column
		}
		out = append(out, NewItem(f.kind, "", f.key, at, f.node))
	}
	return out
}

// find gives the items in the value of a key. Its result is ordered as written.
func find(key string, n *yaml.Node) []found {
	for _, k := range keys {
		if k.key != "" && k.key == native(key) && !isNull(n) {
			return k.find(key, deref(n))
		}
	}
	return nil
}

// executes says whether a key may hold items, without looking at its value.
func executes(key string) bool {
	key = native(key)
	for _, k := range keys {
		if k.key != "" && k.key == key {
			return true
		}
	}
	return false
}

// native is the key under which a value would act.
func native(key string) string { return Kebab(strings.TrimPrefix(key, "+")) }

// Kebab is the native spelling of a key that is written in another way, such as
// snake_case.
func Kebab(key string) string {
	var b strings.Builder
	for i, r := range key {
		switch {
		case r == '_':
			b.WriteByte('-')
		case r >= 'A' && r <= 'Z':
			if i > 0 && !strings.HasSuffix(b.String(), "-") {
				b.WriteByte('-')
			}
			b.WriteRune(r - 'A' + 'a')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
