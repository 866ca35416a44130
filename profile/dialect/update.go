package dialect

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// Update writes a profile into the text of its file: only the lines of keys
// that say something else than before change; comments, unknown keys, order and
// line ends stay. The paths of the parts are those from the file's folder: first
// the file itself, then what else changes. What was written is decoded again
// and must say what the profile says, otherwise there is no part and an error
// among the diagnostics: for a file that does not load, a format that is edited
// by hand, a field that the dialect cannot hold.
func Update(f *File, p *profile.Profile) ([]Part, []profile.Diagnostic) {
	d, ok := Detect(f)
	if !ok {
		return nil, byHand(f, "it is no profile")
	}
	olds, ds := d.Decode(f)
	switch {
	case profile.Refused(ds):
		return nil, ds
	case Shared(f.Path):
		return nil, byHand(f, sharedWhy)
	case len(olds) != 1:
		return nil, byHand(f, "it holds several profiles")
	case d.Encode == nil:
		return nil, byHand(f, fmt.Sprintf("the %s dialect is only read", d.Name))
	}
	u := &updater{file: f, dialect: d, old: olds[0], new: without(p, d.Name)}
	if says(u.old) == says(u.new) {
		return u.unchanged(), nil
	}
	if lost := u.encode(); lost != nil {
		return nil, lost
	}
	var write func(coarse bool) ([]Part, bool)
	switch {
	case path.Base(f.Path) == dirMain && len(u.newParts) > 0 && path.Base(u.newParts[0].Path) == dirMain:
		write = u.folder
		if u.shared() {
			return nil, byHand(f, "what changes is in a file that other profiles share")
		}
	case !f.document().broken && len(u.newParts) == 1:
		write = u.markdown
	default:
		return nil, byHand(f, fmt.Sprintf("roster does not rewrite files of the %s dialect", d.Name))
	}
	for _, coarse := range []bool{false, true} {
		parts, ok := write(coarse)
		if !ok {
			return nil, byHand(f, "its keys do not start a line each")
		}
		if ds = u.verify(parts); ds == nil {
			return parts, nil
		}
	}
	return nil, ds
}

type updater struct {
	file     *File
	dialect  Dialect
	old, new *profile.Profile

	oldParts, newParts []Part // both in the file's dialect
}

// without gives a copy as a file alone would say it: nothing that comes from
// other files.
func without(p *profile.Profile, dialect string) *profile.Profile {
	c := *p
	c.Dialect, c.Parents = dialect, nil
	return &c
}

// says gives what tells two profiles apart that say different things.
func says(p *profile.Profile) string { return without(p, "").Revision() }

func byHand(f *File, why string) []profile.Diagnostic {
	return []profile.Diagnostic{profile.Diagnose(profile.CodeByHand, source.Origin{File: f.Name}, "",
		"the file cannot be changed in place: "+why, "edit it by hand")}
}

func (u *updater) unchanged() []Part {
	return []Part{{Path: path.Base(u.file.Path), Data: u.file.Data}}
}

// encode writes both profiles anew. What the old one loses in that is in the
// file and stays there; what only the new one loses cannot be saved.
func (u *updater) encode() []profile.Diagnostic {
	var before, after []profile.Diagnostic
	u.oldParts, before = u.dialect.Encode(u.old)
	u.newParts, after = u.dialect.Encode(u.new)
	var refused []profile.Diagnostic
	for _, l := range after {
		if !slices.ContainsFunc(before, func(b profile.Diagnostic) bool { return b.Key == l.Key }) {
			refused = append(refused, cannotHold(l))
		}
	}
	return refused
}

// cannotHold makes an error of what was lost: who saves a profile meant it.
func cannotHold(lost profile.Diagnostic) profile.Diagnostic {
	at := source.Origin{File: lost.File, Line: lost.Line, Column: lost.Column}
	return profile.Diagnose(profile.CodeCannotHold, at, lost.Key, lost.Message, lost.Hint)
}

// verify decodes what was written.
func (u *updater) verify(parts []Part) []profile.Diagnostic {
	f := *u.file
	f.doc, f.root, f.Data = nil, nil, parts[0].Data
	if len(parts) > 1 {
		beside := make(map[string][]byte, len(f.Beside))
		for name, data := range f.Beside {
			beside[name] = data
		}
		for _, part := range parts[1:] {
			beside[part.Path] = part.Data
		}
		f.Beside = beside
	}
	return verify(&f, u.dialect.Name, u.new)
}

// verify decodes a file that was just written and wants what the profile says.
func verify(f *File, dialect string, want *profile.Profile) []profile.Diagnostic {
	d, ok := Detect(f)
	if !ok || d.Name != dialect {
		return byHand(f, fmt.Sprintf("with this change it would no longer be read as %s", dialect))
	}
	got, ds := d.Decode(f)
	if profile.Refused(ds) {
		return ds
	}
	if len(got) != 1 {
		return byHand(f, fmt.Sprintf("it would hold %d profiles", len(got)))
	}
	for _, c := range slices.Concat(changes(want, got[0]), added(want, got[0])) {
		ds = append(ds, profile.Diagnose(profile.CodeCannotHold, c.at, c.key, fmt.Sprintf("the %s dialect cannot hold %s as it is: it reads back as something else", dialect, c.key), ""))
	}
	if profile.Refused(ds) {
		return ds
	}
	return nil
}

// added lists the kept keys that were to go and are there still.
func added(want, got *profile.Profile) []setKey {
	var out []setKey
	for _, x := range changedExtras(got, want) {
		if slices.ContainsFunc(want.Extra, func(y profile.Extra) bool { return y.Key == x.key }) {
			continue // named by changes
		}
		out = append(out, x)
	}
	return out
}

// Create writes a new profile in a dialect and reads it back. Unlike a
// conversion it must hold everything: what would be lost is an error, and so is
// what the dialect refuses. The paths of the parts are those below a workspace.
func Create(d Dialect, p *profile.Profile) ([]Part, []profile.Diagnostic) {
	if d.Encode == nil {
		return nil, byHand(&File{Name: p.Name}, fmt.Sprintf("the %s dialect is only read", d.Name))
	}
	p = without(p, p.Dialect)
	parts, ds := d.Encode(p)
	for i := range ds {
		ds[i] = cannotHold(ds[i])
	}
	if profile.Refused(ds) {
		return nil, ds
	}
	f := writtenFile(parts)
	if ds = verify(f, d.Name, p); ds != nil {
		return nil, ds
	}
	return parts, nil
}

// below gives the path of a part from a folder; a part beside the folder has a
// path that starts with dots.
func below(dir, p string) string {
	up := ""
	for dir != "." && dir != "/" {
		if rest, ok := strings.CutPrefix(p, dir+"/"); ok {
			return up + rest
		}
		dir, up = path.Dir(dir), up+"../"
	}
	return up + p
}

// markdown rewrites the frontmatter's lines and the body.
func (u *updater) markdown(coarse bool) ([]Part, bool) {
	was := parseDocument("", u.oldParts[0].Data)
	is := parseDocument("", u.newParts[0].Data)
	doc := u.file.document()
	text := &textEdit{lines: splitLines(u.file.Data), eol: "\n", coarse: coarse}
	if doc.front.CRLF {
		text.eol = "\r\n"
	}
	if !bytes.Equal(was.front.YAML, is.front.YAML) {
		file, ok := topBlock(doc, text.lines)
		if !ok {
			return nil, false
		}
		before, _ := topBlock(was, splitLines(u.oldParts[0].Data))
		after, _ := topBlock(is, splitLines(u.newParts[0].Data))
		u.synonyms(&file, &before, &after)
		text.merge(file, before, after)
	}
	data := text.apply()
	if !bytes.Equal(was.front.Body, is.front.Body) {
		data = text.withBody(data, len(splitLines(u.file.Data))-(doc.front.BodyLine-1), is.front.Body)
	}
	return []Part{{Path: path.Base(u.file.Path), Data: data}}, true
}

// maxSynonyms bounds the keys of a file that are tried as another's synonym: each
// costs a decode.
const maxSynonyms = 200

// synonyms finds the keys of the file that the dialect reads and would write
// under another name, such as max_steps for steps: for each key that changes
// and is not in the file, the field without which it is another.
func (u *updater) synonyms(file, before, after *block) {
	for key := range before.changed(after) {
		if file.find(key) >= 0 || before.find(key) < 0 {
			continue
		}
		for i := range file.entries[:min(len(file.entries), maxSynonyms)] {
			if before.find(file.entries[i].key) < 0 && u.feeds(file, i, key, before) {
				file.entries[i].key, file.entries[i].renamed = key, true
				file.places = nil
				break
			}
		}
	}
}

// feeds says whether a key is written in another way without an entry.
func (u *updater) feeds(file *block, i int, key string, before *block) bool {
	f := *u.file
	f.doc, f.root = nil, nil
	from, to := file.span(i)
	f.Data = bytes.Join(slices.Concat(file.lines[:from], file.lines[to:]), nil)
	ps, ds := u.dialect.Decode(&f)
	if profile.Refused(ds) || len(ps) != 1 {
		return false
	}
	parts, _ := u.dialect.Encode(ps[0])
	if len(parts) != 1 {
		return false
	}
	got, ok := topBlock(parseDocument("", parts[0].Data), splitLines(parts[0].Data))
	return ok && !got.same(key, before)
}
