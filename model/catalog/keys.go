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

// Variables is KeyVariables for declarations alone.
func Variables(providers []Provider) (names []string) {
	for _, p := range providers {
		if p.KeyEnv.V != "" {
			names = append(names, p.KeyEnv.V)
		}
		for _, h := range p.Headers.V {
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

// KeyState says how a provider is reached and where its key would be from. It
// holds no secret.
type KeyState struct {
	Provider, API, BaseURL, KeyEnv string
	// Source says where the key is from; empty: it is missing.
	Source string
	// Withheld is why the provider is not to be used, or nil.
	Withheld error
}

// Keys tells of each provider, in the order of the catalog, whether it could be
// used. No key is read further than to see that it is there, and no command is
// run.
func (c *Catalog) Keys() []KeyState {
	t := c.table()
	var all []KeyState
	for _, name := range t.names {
		p := t.providers[name]
		k := KeyState{Provider: name, API: p.API.V, BaseURL: p.BaseURL.V, KeyEnv: p.KeyEnv.V}
		k.Source = c.KeySource(p.endpoint(""))
		if len(p.Withheld) > 0 {
			k.Withheld = p.Withheld[0].Why
		}
		all = append(all, k)
	}
	return all
}

// KeySource says where the key of a provider would be read from, in words; empty:
// it is missing.
func (c *Catalog) KeySource(e Endpoint) string {
	switch c.keyFrom(e.Provider, e.KeyEnv, e.KeyCommand) {
	case byVariable:
		return "key in $" + e.KeyEnv
	case byCommand:
		return "key by key-command"
	case byStore:
		return "key in " + c.options.Kept.Path(e.Provider)
	case noKey:
	}
	if e.KeyEnv == "" {
		return "no key is needed"
	}
	return ""
}
