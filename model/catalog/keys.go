package catalog

// KeyVariables returns the names of the environment variables that hold the
// providers' keys, or what their headers are filled in with, so that no command
// of an agent is given them.
func (c *Catalog) KeyVariables() []string {
	t := c.table()
	var names []string
	for _, p := range t.names {
		if env := t.providers[p].KeyEnv.V; env != "" {
			names = append(names, env)
		}
		for _, h := range t.providers[p].Headers.V {
			names = append(names, variables(h.Value)...)
		}
	}
	return names
}

// variables lists the names that expand would ask for.
func variables(text string) (names []string) {
	expand(text, func(name string) string {
		names = append(names, name)
		return "set"
	})
	return names
}
