package dialect

import (
	"strings"

	"github.com/rosterrun/roster/profile"
)

// roster is the native dialect.
func roster() Dialect {
	return Dialect{Name: "roster", Detect: detectRoster, Decode: decodeRoster, Encode: encodeRoster}
}

func detectRoster(f *File) Certainty {
	if underProfiles(f.Path) {
		return ByFolder
	}
	return guessedAs(f, "roster")
}

func decodeRoster(f *File) ([]*profile.Profile, []profile.Diagnostic) {
	d := grammar{dialect: "roster"}.decode(f)
	if !d.doc.broken {
		d.wantDescription()
		d.wantPrompt()
	}
	return d.done()
}

// wantPrompt notes a profile that says nothing to its model.
func (d *decoder) wantPrompt() {
	if strings.TrimSpace(d.p.SystemPrompt.V) == "" && strings.TrimSpace(d.p.Body) == "" && !d.doc.has("prompt", "extends") {
		d.report(profile.CodeNoPrompt, d.p.BodyAt, "system-prompt", "the profile has no prompt", "write it below the frontmatter")
	}
}

func encodeRoster(p *profile.Profile) ([]Part, []profile.Diagnostic) {
	e := newEncoder(p, grammar{dialect: "roster"})
	e.all()
	return e.file("profiles/" + p.Name + ".md")
}
