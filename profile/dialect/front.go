package dialect

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// Front is a file that is no profile, and whose keys are read as a profile's are,
// repairs included: a skill, a command. What is wrong with a key is found when it is
// read. It is not safe for concurrent use.
type Front struct {
	Body   string // of Markdown, what follows the frontmatter, with LF line ends
	BodyAt source.Origin

	d    *decoder
	read []string // keys
}

// ReadFront reads a Markdown file with frontmatter or, by the suffix of its name, a
// file of JSON, TOML or YAML. Its keys cannot be read when Diagnostics has an error:
// there are none then.
func ReadFront(file string, data []byte) *Front {
	f := &Front{d: &decoder{file: file, p: &profile.Profile{File: file}}}
	if isData(file) {
		f.readTree(file, data)
	} else {
		f.readMarkdown(file, data)
	}
	if profile.Refused(f.d.ds) {
		f.d.doc.fields = nil
	}
	f.d.topLevelUnique()
	return f
}

func (f *Front) readTree(file string, data []byte) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	f.d.doc = &document{front: profile.Frontmatter{YAML: data, YAMLLine: 1}}
	t := parseTree(file, path.Base(file), data)
	if f.d.ds = t.diags; t.root != nil {
		f.d.doc.fields = f.d.doc.fieldsOf(file, t.root)
	}
}

func (f *Front) readMarkdown(file string, data []byte) {
	doc := parseDocument(file, data)
	f.d.doc, f.d.ds = doc, doc.diags
	f.Body = string(doc.front.Body)
	f.BodyAt = source.Origin{Layer: source.Profile, File: file, Line: doc.front.BodyLine, Column: 1}
}

// Diagnostics are what was wrong so far, with an error where the file cannot be read.
func (f *Front) Diagnostics() []profile.Diagnostic { return profile.Capped(slices.Clone(f.d.ds)) }

// Report adds a diagnostic.
func (f *Front) Report(code string, at source.Origin, key, message, hint string) {
	f.d.report(code, at, key, message, hint)
}

func (f *Front) field(key string) (field, bool) {
	f.read = append(f.read, key)
	return f.d.doc.find(key)
}

// At is the place of a key; zero: the file does not have it.
func (f *Front) At(key string) source.Origin {
	fd, _ := f.d.doc.find(key)
	return fd.at
}

// Text reads a text. Keys are named in kebab-case, however they are written.
func (f *Front) Text(key string) (v profile.Value[string]) {
	if fd, ok := f.field(key); ok {
		v = f.d.text(fd)
	}
	return v
}

// Bracketed reads a text that people write in brackets, as in [file] [line], where
// YAML sees a list.
func (f *Front) Bracketed(key string) (v profile.Value[string]) {
	fd, ok := f.field(key)
	if !ok {
		return v
	}
	if n := deref(fd.node); n.Kind == yaml.SequenceNode {
		if items, ok := f.d.scalars(fd, n); ok {
			v = set("["+strings.Join(items, ", ")+"]", fd)
		}
		return v
	}
	return f.d.text(fd)
}

// Flag reads true or false.
func (f *Front) Flag(key string) (v profile.Value[bool]) {
	if fd, ok := f.field(key); ok {
		v = f.d.flag(fd)
	}
	return v
}

// List reads a list of texts, or a text with commas between them.
func (f *Front) List(key string) (v profile.Value[[]string]) {
	if fd, ok := f.field(key); ok {
		v = f.d.list(fd)
	}
	return v
}

// Allows reads a list of tools, in any system's names and as a list or a text with
// commas or spaces, as rules that allow them: all of a tool, or what stands in
// parentheses behind its name.
func (f *Front) Allows(key string) []permission.Rule {
	fd, ok := f.field(key)
	if !ok {
		return nil
	}
	v, narrowed := f.d.toolList(fd)
	return granted(v, narrowed)
}

// Entries gives the entries of a map as Fronts of their own, in written order, with
// the place of each key.
func (f *Front) Entries(key string) (entries []FrontEntry) {
	fd, ok := f.field(key)
	if !ok {
		return nil
	}
	list, _ := f.d.entries(fd)
	for _, e := range list {
		n := deref(e.node)
		if n.Kind != yaml.MappingNode {
			f.d.wrongType(e, e.node, "a map")
			continue
		}
		doc := *f.d.doc
		doc.fields = doc.fieldsOf(f.d.file, n)
		own := &Front{d: &decoder{file: f.d.file, doc: &doc, p: f.d.p}}
		own.d.topLevelUnique()
		entries = append(entries, FrontEntry{strings.TrimPrefix(e.written, fd.written+"."), e.at, own})
	}
	return entries
}

// FrontEntry is one entry of a map.
type FrontEntry struct {
	Name string
	At   source.Origin
	Keys *Front
}

// Unread notes the keys that nobody has read and that are not among the known ones,
// which have no effect here.
func (f *Front) Unread(what string, known ...string) {
	known = append(known, f.read...)
	for _, fd := range f.d.doc.fields {
		if slices.Contains(known, fd.key) || isLabel(fd.key) {
			continue
		}
		f.d.report(profile.CodeUnknownKey, fd.at, fd.written, fmt.Sprintf("%s is not a key of %s; it has no effect", fd.written, what), meant(fd.key, known))
	}
}

// meant says which key an unknown one may be, or that it lacks its indentation.
func meant(key string, known []string) string {
	for _, k := range known {
		if above, ok := strings.CutSuffix(k, "."+key); ok {
			return fmt.Sprintf("is it one of %s? indent it below it", above)
		}
	}
	return didYouMean(key, known)
}
