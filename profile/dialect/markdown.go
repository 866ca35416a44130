package dialect

import (
	"fmt"
	"strings"

	"github.com/rosterrun/roster/profile"
)

// wantDescription notes a profile that nobody can choose.
func (d *decoder) wantDescription() {
	if strings.TrimSpace(d.p.Description.V) == "" && !d.p.Extends.Set { // a parent may have one
		d.report(profile.CodeNoDescription, d.p.NameAt, "description", "the profile has no description", "write description: what it is for")
	}
}

// inactive notes a key that is known and not acted on, and keeps it.
func (d *decoder) inactive(f field, key string, known bool) {
	d.report(profile.CodeInactiveKey, f.at, f.written, fmt.Sprintf("this version does not act on %s; it is kept", f.written), "")
	d.keepAs(f, key, known)
}

// keepAs puts a field among the keys that are not acted on.
func (d *decoder) keepAs(f field, key string, known bool) {
	d.uniqueIn(f.written, f.node)
	for i := range d.doc.fields {
		if d.doc.fields[i].node != f.node {
			continue
		}
		value, ok := d.doc.raw(i)
		if !ok || hasAlias(f.node, 0) {
			if value, ok = d.dump(f); !ok {
				return
			}
		}
		d.p.Extra = append(d.p.Extra, profile.Extra{Key: key, YAML: append([]byte(nil), value...), Known: known, At: f.at})
		return
	}
}
