package dialect

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/service"
)

// services reports what is wrong with services, which would keep a profile from
// being run.
func (d *decoder) services(f field) {
	_, err := service.ReadList(f.node, func(name string, n *yaml.Node) error {
		if _, err := service.Parse(name, n); err != nil {
			at := f.at
			if d.strict() {
				at = d.at(n)
				d.saidTwice(f.written + "." + name + ".")
			}
			d.report(profile.CodeService, at, f.written+"."+name, f.written+"."+name+": "+strings.ReplaceAll(err.Error(), "\n", "; "), "")
		}
		return nil
	})
	if err != nil {
		d.report(profile.CodeService, f.at, f.written, err.Error(), "")
	}
}

// saidTwice takes back that keys are unknown, of an entry whose error names them.
func (d *decoder) saidTwice(in string) {
	d.ds = slices.DeleteFunc(d.ds, func(x profile.Diagnostic) bool {
		return x.Code == profile.CodeUnknownKey && strings.HasPrefix(x.Key, in)
	})
}
