package dialect

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// The files of a directory profile, by their paths from its folder. The tools
// folder may lie in the profile's folder, beside it, or one level higher.
const (
	dirMain     = "config.json"
	dirPrompt   = "system_prompt.txt"
	dirSubagent = "subagent_system_prompt.txt"
	dirPersona  = "../persona.txt"
)

// DirectoryParts gives the files of a directory profile, by their slash paths
// from the folder of main. A folder is a directory profile if it holds main and
// every required file. An optional path may lead up to two folders higher, and
// its last segment may be a pattern of path.Match. File.Beside has each file
// that exists under its path as it is given here, or as the pattern matched.
func DirectoryParts() (main string, required, optional []string) {
	return dirMain, []string{dirPrompt}, []string{
		dirSubagent, dirPersona,
		"tools/enabled.json", "../tools/enabled.json", "../../tools/enabled.json",
		"tools/*.yaml", "../tools/*.yaml", "../../tools/*.yaml",
	}
}

// toolFolders are where the tools of a directory profile may be; the nearest
// wins.
func toolFolders() []string { return []string{"tools/", "../tools/", "../../tools/"} }

// directory is the dialect of folders with a config.json and a
// system_prompt.txt. Its keys have defaults of their own, and its tool list is
// the grant.
func directory() Dialect {
	return Dialect{Name: "directory", Detect: detectDirectory, Decode: decodeDirectory, Encode: encodeDirectory}
}

func detectDirectory(f *File) Certainty {
	if path.Base(f.Path) != dirMain {
		return No
	}
	if _, ok := f.Beside[dirPrompt]; ok {
		return BySuffix
	}
	if root := f.tree().root; root != nil { // its system_prompt.txt is missing
		doc := keyed(f.Name, root)
		if doc.has("id") && doc.has("enabled-tools") {
			return BySuffix
		}
	}
	return No
}

// keyed gives the keys of a map as the fields of a document.
func keyed(file string, root *yaml.Node) *document {
	doc := &document{front: profile.Frontmatter{YAMLLine: 1}, broken: root == nil}
	for i := 0; root != nil && i+1 < len(root.Content); i += 2 {
		k := deref(root.Content[i])
		doc.fields = append(doc.fields, field{key: kebab(k.Value), written: k.Value, at: doc.origin(file, k), node: root.Content[i+1]})
	}
	return doc
}

// folder decodes one directory profile.
type folder struct {
	*decoder
	in     *File
	habits map[string]field // by the key in config.json
	tools  []listedTool
}

func decodeDirectory(f *File) ([]*profile.Profile, []profile.Diagnostic) {
	t := f.tree()
	d := &folder{
		decoder: &decoder{file: f.Name, doc: keyed(f.Name, t.root), opts: f.Options, p: &profile.Profile{Dialect: "directory", File: f.Name}},
		in:      f, habits: map[string]field{},
	}
	d.ds = append(d.ds, t.diags...)
	d.identify()
	if d.doc.broken {
		return d.done()
	}
	d.topLevelUnique()
	for _, fd := range d.doc.fields {
		if !d.own(fd) {
			d.unknown(fd, "", directoryKeys())
		}
	}
	d.defaults()
	d.keepHabits()
	d.texts()
	d.mergeTools()
	if strings.TrimSpace(d.p.Description.V) == "" {
		d.report(profile.CodeNoDescription, d.p.NameAt, "description", "the profile has no description", `write "description": what it is for`)
	}
	return d.done()
}

// folderName is empty when the path does not tell it.
func (f *File) folderName() string {
	for _, p := range []string{f.Path, f.Name} {
		if dir := path.Base(path.Dir(p)); dir != "." && dir != "/" && !strings.HasPrefix(p, "<") {
			return dir
		}
	}
	return ""
}

// identify takes the name from id, which must be that of the folder.
func (d *folder) identify() {
	p, dir := d.p, d.in.folderName()
	p.NameAt = source.Origin{Layer: source.Profile, File: d.file}
	if profile.CheckName(dir) == nil {
		p.Name = dir
	}
	f, ok := d.doc.find("id")
	if !ok {
		if p.Name == "" {
			d.report(profile.CodeName, p.NameAt, "id", "the profile has no id", `write "id": the folder's name`)
		}
		return
	}
	p.NameAt = f.at
	id := strings.TrimSpace(d.text(f).V)
	slug, err := profile.Slug(id)
	switch {
	case err != nil || slug == "":
		d.report(profile.CodeName, d.at(f.node), f.written, fmt.Sprintf("%q is not a name", shorten(id)), "names are letters, digits, '.', '_', '-'")
		return
	case profile.CheckName(id) != nil:
		d.report(profile.CodeSlug, d.at(f.node), f.written, fmt.Sprintf("%q is not a name; the name is %q", shorten(id), slug), "")
		p.Name = slug
	default:
		p.Name = id
	}
	if dir != "" && id != dir {
		d.report(profile.CodeFolderName, d.at(f.node), f.written, fmt.Sprintf("the folder is %q and the id is %q", dir, shorten(id)), "give both the same name")
	}
}

// unknown keeps a key that the dialect does not have. prefix is that of the
// map that it stands in.
func (d *decoder) unknown(f field, prefix string, known []string) {
	value, ok := d.dump(f)
	if !ok {
		return
	}
	d.report(profile.CodeUnknownKey, f.at, f.written, fmt.Sprintf("%s is not a known key; it is kept and has no effect", f.written), didYouMean(f.written, known))
	d.p.Extra = append(d.p.Extra, profile.Extra{Key: prefix + f.written, YAML: bytes.Clone(value), At: f.at})
}

// part gives the text of another file of the profile, without a byte order
// mark and with the line ends that all texts have.
func (d *folder) part(name string) (text string, at source.Origin, ok bool) {
	at = source.Origin{Layer: source.Profile, File: path.Join(path.Dir(d.file), name), Line: 1, Column: 1}
	data, ok := d.in.Beside[name]
	if !ok {
		return "", at, false
	}
	if len(data) > profile.MaxFile {
		d.report(profile.CodeTooLarge, at, "", fmt.Sprintf("the file has more than %d bytes", profile.MaxFile), "")
		return "", at, true
	}
	if bad := firstInvalid(data); bad >= 0 {
		at.Line += bytes.Count(data[:bad], []byte("\n"))
		d.report(profile.CodeNotUTF8, at, "", fmt.Sprintf("the file is not UTF-8 at byte %d", bad), "save it as UTF-8")
		return "", at, true
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	return strings.ReplaceAll(string(data), "\r\n", "\n"), at, true
}

// texts reads the prompts: the profile's own, that of its subagents, and the
// persona of its folder.
func (d *folder) texts() {
	p := d.p
	var ok bool
	if p.Body, p.BodyAt, ok = d.part(dirPrompt); !ok {
		d.report(profile.CodeNoSystemPrompt, p.BodyAt, dirPrompt, "the folder has no "+dirPrompt, "write the prompt there")
	} else if strings.TrimSpace(p.Body) == "" && !profile.Refused(d.ds) {
		d.report(profile.CodeNoPrompt, p.BodyAt, dirPrompt, "the profile has no prompt", "write it in "+dirPrompt)
	}
	if text, at, _ := d.part(dirSubagent); strings.TrimSpace(text) != "" {
		p.Extra = append(p.Extra, profile.Extra{Key: "subagents.prompt", YAML: valueText(textNode(text)), Known: true, At: at})
	}
	if text, at, _ := d.part(dirPersona); strings.TrimSpace(text) != "" {
		p.Persona = profile.Value[string]{V: text, Set: true, At: at}
	}
}

// valueText writes a value as it stands after its key.
func valueText(n *yaml.Node) []byte {
	var b bytes.Buffer
	writeEntry(&b, 0, "k", n)
	return bytes.TrimSuffix(bytes.TrimPrefix(b.Bytes(), []byte("k:")), []byte("\n"))
}

// textNode is a text that keeps its form when its lines are indented anew: a
// block only where every line starts and ends with a visible character.
func textNode(s string) *yaml.Node {
	n := str(s)
	plain := !strings.HasSuffix(s, "\n\n")
	for line := range strings.SplitSeq(s, "\n") {
		plain = plain && strings.TrimSpace(line) == line
	}
	if n.Style == yaml.LiteralStyle && !plain {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
