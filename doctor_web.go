package roster

import "fmt"

// web says who answers searches, and what is reached besides public addresses.
func (d *doctor) web() {
	cfg := d.Config()
	switch s := cfg.Search; {
	case s.Kind == "":
		d.add("web", "search", "note", "no service answers searches; websearch is not offered", "name one under search in roster.yaml")
	case s.KeyEnv != "" && d.opts.Getenv(s.KeyEnv) == "":
		d.add("web", "search", "warning", fmt.Sprintf("%s at %s: %s is not set", s.Kind, s.URL, s.KeyEnv), "set it to search")
	default:
		d.add("web", "search", "ok", fmt.Sprintf("%s at %s", s.Kind, s.URL), "")
	}
	for _, v := range cfg.Web.Allow {
		d.add("web", "allow", "ok", v.V+" may be fetched from though it is private, by "+v.At.String(), "")
	}
	if p := cfg.Web.Proxy; p.Set {
		d.add("web", "proxy", "ok", "pages are fetched through a proxy, by "+p.At.String(), "")
	}
	switch path, missing, remedy := d.browserProgram(); {
	case missing != "":
		d.add("web", "browser", "note", missing+"; the browser is not offered", remedy)
	default:
		d.add("web", "browser", "ok", path, "")
	}
}
