package dialect

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// docker is the dialect of docker-agent's YAML: a map of agents in one file,
// with the models that they share. Each agent is a profile. The root agent has
// the name of the file, the others a name below it: blog, blog/writer.
func docker() Dialect {
	return Dialect{Name: "docker", Detect: detectDocker, Decode: decodeDocker, Encode: encodeDocker}
}

// dockerRoot is the agent that a run starts with.
const dockerRoot = "root"

func detectDocker(f *File) Certainty {
	if ext := path.Ext(f.Path); ext != ".yaml" && ext != ".yml" {
		return No
	}
	if !bytes.Contains(f.Data, []byte("agents")) {
		return No
	}
	root := f.tree().root
	if root == nil { // it cannot be parsed
		for line := range bytes.Lines(f.Data) {
			if bytes.HasPrefix(line, []byte("agents:")) {
				return BySuffix
			}
		}
		return No
	}
	if agents, ok := child(root, "agents"); ok && deref(agents).Kind == yaml.MappingNode {
		return BySuffix
	}
	return No
}

// dockerFile is what the agents of a file share.
type dockerFile struct {
	in     *File
	doc    *document
	ds     []profile.Diagnostic
	shared []profile.Extra
	names  map[string]string // of the profiles, by agent

	models, providers, servers map[string]field
	denied                     []listedTool // patterns of permissions.deny
}

func decodeDocker(f *File) ([]*profile.Profile, []profile.Diagnostic) {
	t := f.tree()
	file := &dockerFile{in: f, doc: keyed(f.Name, t.root), ds: slices.Clone(t.diags), names: map[string]string{}}
	stem, title := dockerStem(f.Path, f.Name)
	if file.doc.broken {
		return []*profile.Profile{{Name: stem, NameAt: source.Origin{Layer: source.Profile, File: f.Name}, Dialect: "docker", File: f.Name}}, file.ds
	}
	agents := file.top()
	root := dockerRoot
	if !slices.ContainsFunc(agents, func(a field) bool { return a.written == dockerRoot }) && len(agents) > 0 {
		root = agents[0].written
	}
	first := map[string]string{}
	for _, a := range agents {
		name := file.name(stem, root, a)
		if other, twice := first[name]; twice {
			file.ds = append(file.ds, profile.Diagnose(profile.CodeName, a.at, "agents", fmt.Sprintf("the agents %q and %q both have the name %q", other, a.written, name), "give them different names"))
		}
		first[name], file.names[a.written] = a.written, name
	}
	var out []*profile.Profile
	for _, a := range agents {
		d := &dockerAgent{decoder: file.decoder(), file: file}
		d.p.Name, d.p.NameAt = file.names[a.written], a.at
		if a.written == root && title != "" {
			d.p.Title = profile.Value[string]{V: title, Set: true, At: source.Origin{Layer: source.Profile, File: f.Name}}
		}
		d.agent(a)
		d.p.Seal()
		out = append(out, d.p)
		file.ds = append(file.ds, d.ds...)
	}
	if len(agents) == 0 {
		at, _ := file.doc.find("agents")
		file.ds = append(file.ds, profile.Diagnose(profile.CodeNoAgents, at.at, "agents", "the file has no agents", "write agents: {root: {model: …, instruction: …}}"))
	}
	return out, file.ds
}

// dockerStem gives the name of the root agent: what follows a known folder in
// the path, else the file's name.
func dockerStem(place, shown string) (name, title string) {
	if place == "" {
		place = path.Base(strings.Trim(shown, "<>"))
	}
	place = strings.TrimSuffix(place, path.Ext(place))
	segs := strings.Split(place, "/")
	rest := segs[len(segs)-1:]
	if i := slices.IndexFunc(segs[:len(segs)-1], IsProfileFolder); i >= 0 {
		rest = segs[i+1:]
	}
	text := strings.Join(rest, "/")
	if profile.CheckName(text) == nil {
		return text, ""
	}
	slug, err := profile.Slug(text)
	if err != nil {
		slug = ""
	}
	return cmp.Or(slug, "agent"), path.Base(text)
}

func (file *dockerFile) decoder() *decoder {
	return &decoder{file: file.in.Name, doc: file.doc, opts: file.in.Options, p: &profile.Profile{Dialect: "docker", File: file.in.Name}}
}

// name gives the name of an agent's profile.
func (file *dockerFile) name(stem, root string, a field) string {
	if a.written == root {
		return stem
	}
	slug, err := profile.Slug(a.written)
	if err == nil && slug != "" {
		return stem + "/" + slug
	}
	file.ds = append(file.ds, profile.Diagnose(profile.CodeName, a.at, "agents", fmt.Sprintf("%q is not a name", shorten(a.written)), "names are letters, digits, '.', '_', '-'"))
	return stem
}

// top reads what stands beside the agents, and gives these.
func (file *dockerFile) top() []field {
	d := file.decoder()
	d.topLevelUnique()
	var agents []field
	for _, f := range file.doc.fields {
		switch f.written {
		case "agents":
			agents, _ = d.entries(f)
			for i := range agents {
				agents[i].written = strings.TrimPrefix(agents[i].written, "agents.")
			}
			continue
		case "models":
			file.models = file.shareable(d, f)
		case "providers":
			file.providers = file.shareable(d, f)
		case "mcps":
			file.servers = file.shareable(d, f)
		case "permissions":
			file.deny(d, f)
		case "version", "metadata", "rag":
		default:
			d.unknown(f, dockerShared, []string{"agents", "models", "providers", "mcps", "permissions", "version", "metadata", "rag"})
			continue
		}
		if f.written == "models" {
			continue // each agent keeps its own
		}
		if value, ok := d.dump(f); ok {
			d.p.Extra = append(d.p.Extra, profile.Extra{Key: dockerShared + f.written, YAML: bytes.Clone(value), At: f.at})
		}
	}
	file.ds = append(file.ds, d.ds...)
	file.shared = slices.Clip(d.p.Extra)
	return agents
}

// dockerShared leads the keys that stand beside the agents, and dockerModel
// those of an agent's model, where a profile keeps them.
const (
	dockerShared = "file."
	dockerModel  = "model."
)

// shareable gives the entries of a map by their keys.
func (file *dockerFile) shareable(d *decoder, f field) map[string]field {
	subs, _ := d.entries(f)
	out := make(map[string]field, len(subs))
	for _, s := range subs {
		out[strings.TrimPrefix(s.written, f.written+".")] = s
	}
	return out
}

// deny collects the patterns that nothing may do. What is allowed and asked for
// is decided by the list of tools.
func (file *dockerFile) deny(d *decoder, f field) {
	subs, _ := d.entries(f)
	for _, s := range subs {
		if s.key == "permissions.deny" {
			file.denied, _ = d.listedTools(s)
		}
	}
}
