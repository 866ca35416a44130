package catalog

import (
	"context"
	"encoding/json"
	"path"
	"path/filepath"
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// Body is how diagnostics name the object that Set is given.
const Body = "body"

// Set saves keys of a profile from a JSON object: native keys in any spelling,
// and body. Keys that are null are taken out of the profile, those that the
// object does not have stay. A profile that there is not yet is made, unless
// IfMatch is set. Otherwise it does what Save does, and the keys are laid over
// the profile as it is at that moment. A *profile.ParseError says what is wrong
// with the object, or what the profile's dialect refuses.
func (c *Catalog) Set(ctx context.Context, name string, object []byte, o SaveOptions) (*profile.Profile, error) {
	if err := profile.CheckName(name); err != nil {
		return nil, err
	}
	var saved *profile.Profile
	err := c.edit(ctx, name, func(t *target) error {
		if err := t.admits(o); err != nil {
			return err
		}
		base := t.served
		if base == nil {
			if o.Dialect == "" {
				o.Dialect = defaultDialect(object)
			}
			base = &profile.Profile{Name: name, Dialect: o.Dialect}
		}
		p, ds := dialect.With(base, Body, object)
		if profile.Refused(ds) {
			return &profile.ParseError{Diagnostics: ds}
		}
		if t.served == nil {
			asFile(p, o.Dialect)
		}
		var err error
		saved, err = c.store(t, p, o.Dialect)
		return err
	})
	return saved, err
}

// defaultDialect is knot for an object that has only the keys of the first
// knots, else roster.
func defaultDialect(object []byte) string {
	var keys map[string]json.RawMessage
	if json.Unmarshal(object, &keys) != nil {
		return "roster"
	}
	for key := range keys {
		switch strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(key)) {
		case "name", "provider", "model", "tools", "systemprompt":
		default:
			return "roster"
		}
	}
	return "knot"
}

// asFile puts the prompt of a new profile where a person would write it: in the
// body, but for knot, which has a key for it; and completes it as its file says.
func asFile(p *profile.Profile, name string) {
	if name != "knot" && p.SystemPrompt.V != "" && p.Body == "" {
		p.Body, p.SystemPrompt = p.SystemPrompt.V, profile.Value[string]{}
	}
	dialect.Fresh(p, name)
}

// CheckText reports on a text as on a file of a workspace that has it at a slash
// path; the catalog is only asked for what the text extends. An empty path is
// that of a native profile.
func (c *Catalog) CheckText(at string, text []byte) FileReport {
	rel := filepath.FromSlash(path.Clean(at))
	if at == "" {
		rel = "profile.md"
	}
	src := Source{Path: ".", Root: ".", Shown: "."}
	l := parse(src, found{rel: rel, claimed: isMarkdown(rel)}, text, nil, c.opts)
	return report(c.snapshot([]sourced{{loaded: l}}, []Source{src}, c.Snapshot), func(f sourced) string { return filepath.ToSlash(f.shown) }).Files[0]
}
