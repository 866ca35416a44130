package catalog

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/source"
)

// Text is a file of profiles as it is written, also one that does not load.
type Text struct {
	FileReport
	Text string
	// Revision names the text, and nothing else that the profiles depend on.
	Revision string
	// ReadOnly says why SetText would not write it; nil: it would.
	ReadOnly error
}

// TextOptions say how a text is saved. IfMatch is the revision that the file must have;
// empty: any. Force saves also what does not load. Check is asked whether the file may
// hold the profiles of the text in the place of those before; nil: it may.
type TextOptions struct {
	IfMatch string
	Force   bool
	Check   func(before, after []*profile.Profile) error
}

// Text gives the text of a file of the catalog by its path, as diagnostics name it. Of a
// directory profile it is that of config.json. Errors: *NotFoundError for what is no file
// of profiles; *ReadOnlyError for one that says more than profiles; *profile.LoadError.
func (c *Catalog) Text(at string) (Text, error) {
	t, f, err := c.locateFile(at)
	if err != nil {
		return Text{}, err
	}
	defer t.root.Close()
	return c.textOf(t, f, at), nil
}

func (c *Catalog) textOf(t *target, f FileReport, at string) Text {
	data := t.texts[t.base]
	return Text{FileReport: f, Text: strings.ToValidUTF8(string(data), "\uFFFD"), Revision: digest(data), ReadOnly: c.writable(t, at)}
}

// SetText replaces the text of a file of the catalog, whole and at once, as Save does,
// and keeps what it held. A text that does not load is a *profile.ParseError, unless
// Force is set; one that is no profile at all is always one. Other errors are those of
// Text and Save: *RevisionError, *ReadOnlyError, *ExistsError for a name that another
// file has.
func (c *Catalog) SetText(ctx context.Context, at string, text []byte, o TextOptions) (Text, error) {
	c.saving.Lock()
	defer c.saving.Unlock()
	t, _, err := c.locateFile(at)
	if err != nil {
		return Text{}, err
	}
	top := t.real
	t.root.Close()
	unlock, err := lock(ctx, top)
	if err != nil {
		return Text{}, err
	}
	defer unlock()
	t, f, err := c.locateFile(at)
	if err != nil {
		return Text{}, err
	}
	defer t.root.Close()
	if t.real != top {
		return Text{}, &RevisionError{Name: at}
	}
	if err := c.replaceText(t, f, at, text, o); err != nil {
		return Text{}, err
	}
	return c.Text(at)
}

// replaceText writes the text of a file that is locked.
func (c *Catalog) replaceText(t *target, before FileReport, at string, text []byte, o TextOptions) error {
	if have := digest(t.texts[t.base]); o.IfMatch != "" && o.IfMatch != have {
		return &RevisionError{Name: at, Want: o.IfMatch, Have: have}
	}
	if err := c.writable(t, at); err != nil {
		return err
	}
	if bytes.Equal(text, t.texts[t.base]) {
		return nil
	}
	after := c.wouldBe(t, text)
	if err := c.admitsText(at, before, after, o); err != nil {
		return err
	}
	t.name = cmp.Or(nameOf(before), nameOf(after), stem(at))
	parts := []dialect.Part{{Path: t.base, Data: text}}
	if profile.CheckName(t.name) == nil { // else nobody could ask for its history
		if err := c.keep(t, parts, "saved"); err != nil {
			return err
		}
	}
	t.reached(pointKept)
	return t.write(parts)
}

// admitsText says whether a text may stand in a file.
func (c *Catalog) admitsText(at string, before, after FileReport, o TextOptions) error {
	if after.Status != Loaded && (!o.Force || after.Status != Refused) {
		ds := after.Diagnostics
		if !profile.Refused(ds) {
			ds = []profile.Diagnostic{profile.Diagnose(profile.CodeNotAllowed, source.Origin{File: at}, "", "the text is no profile", "begin it with the keys of one")}
		}
		return &profile.ParseError{Diagnostics: ds}
	}
	all := c.Snapshot()
	for _, p := range after.Profiles {
		if p.Name == "" || slices.ContainsFunc(before.Profiles, func(b *profile.Profile) bool { return b.Name == p.Name }) {
			continue
		}
		if other, err := all.Get(p.Name); err == nil {
			return &ExistsError{Name: p.Name, File: other.File}
		}
	}
	if o.Check == nil {
		return nil
	}
	return o.Check(before.Profiles, after.Profiles)
}

// wouldBe reports on the file as it would be with another text.
func (c *Catalog) wouldBe(t *target, text []byte) FileReport {
	f := t.fileOf([]dialect.Part{{Path: t.base, Data: text}})
	for name, data := range t.texts {
		if name != t.base {
			f.Beside[name] = data
		}
	}
	l := parse(t.source, found{rel: t.rel, claimed: isMarkdown(t.base)}, text, f.Beside, c.opts)
	return report(c.snapshot([]sourced{{loaded: l}}, []Source{t.source}, c.Snapshot), func(f sourced) string { return filepath.ToSlash(f.shown) }).Files[0]
}

// locateFile finds a file of profiles by the path that diagnostics name it by, and
// reports on it. The caller closes the root.
func (c *Catalog) locateFile(at string) (*target, FileReport, error) {
	all := c.Snapshot()
	i := slices.IndexFunc(all.files, func(f sourced) bool {
		return filepath.ToSlash(f.shown) == at && f.entry != nil && f.entry.real != "" && (f.status == Loaded || f.status == Refused)
	})
	if i < 0 {
		return nil, FileReport{}, &NotFoundError{Name: at}
	}
	f := all.files[i]
	t := &target{c: c, name: at, source: all.sources[f.source], rel: f.rel, shown: f.shown, texts: map[string][]byte{}, shared: map[string][]byte{}}
	if dialect.Shared(t.source.place(t.rel)) {
		return nil, FileReport{}, &ReadOnlyError{Name: at, File: f.shown, Why: "it says more than its profiles: open it by hand"}
	}
	if err := t.open(f.entry.real); err != nil {
		return nil, FileReport{}, err
	}
	alone := *all
	alone.files, alone.extra = all.files[i:i+1], all.extra[i:i+1]
	return t, report(&alone, func(f sourced) string { return filepath.ToSlash(f.shown) }).Files[0], nil
}

// writable says why a file is not written: it has to stand in the workspace where its
// path says, and be text.
func (c *Catalog) writable(t *target, at string) error {
	why := ""
	switch real, err := realPath(c.workspace); {
	case t.source.ReadOnly:
		why = "it is in the user's folder, which serves other workspaces too: edit it by hand"
	case c.workspace == "" || err != nil:
		why = "there is no workspace that it is in"
	case t.path(t.base) != filepath.Join(real, filepath.FromSlash(at)):
		why = "it is a link, or outside of the workspace: edit what it leads to"
	case !utf8.Valid(t.texts[t.base]):
		why = "it is not UTF-8: edit it by hand"
	default:
		return nil
	}
	return &ReadOnlyError{Name: at, File: t.shown, Why: why}
}

// nameOf is the first name that a file claims.
func nameOf(f FileReport) string {
	for _, p := range f.Profiles {
		if p.Name != "" {
			return p.Name
		}
	}
	return ""
}

func stem(at string) string {
	base := path.Base(at)
	return strings.TrimSuffix(base, path.Ext(base))
}
