package roster

import (
	"fmt"
	"strings"
)

// services says of each service of roster.yaml whether its document is here, what of it
// is offered, and which variables it lacks.
func (d *doctor) services() {
	list := d.Config().Services
	for i := range list {
		e := &list[i]
		var missing []string
		for _, v := range e.Variables() {
			if _, ok := d.lookupEnv(v); !ok {
				missing = append(missing, v)
			}
		}
		doc, err := d.document(e)
		switch {
		case err != nil && e.Remote() && !stampOf(d.documentFile(e)).there:
			d.add("services", e.Name, "note", e.Does()+" has not been fetched yet", "the first run fetches it")
			continue
		case err != nil:
			d.add("services", e.Name, "error", err.Error(), "")
			continue
		}
		tools, withheld, err := d.service(e, doc, nil).Tools()
		detail := fmt.Sprintf("%s: %d operations", e.Does(), len(tools))
		switch {
		case err != nil:
			d.add("services", e.Name, "warning", err.Error(), "")
		case len(withheld) > 0:
			d.add("services", e.Name, "warning", fmt.Sprintf("%s, and %d that are not offered: %s", detail, len(withheld), withheld[0].Why), "")
		case len(missing) > 0:
			d.add("services", e.Name, "warning", detail+"; not set: "+strings.Join(missing, ", "), "set it, or calls fail")
		default:
			d.add("services", e.Name, "ok", detail, "")
		}
	}
}
