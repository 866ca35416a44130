package roster

import (
	"errors"
	"slices"

	"github.com/rosterrun/roster/config"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/web"
)

// webTools makes the tools that look at the web, with the settings of a spec.
func (a *App) webTools(s *spec.Spec) ([]tool.Tool, error) {
	cfg := a.Config()
	reach := web.Reach{Proxy: cfg.Web.Proxy.V}
	for _, v := range cfg.Web.Allow {
		reach.Allow = append(reach.Allow, v.V)
	}
	fetch, err := web.NewFetch(s.ToolSettings[web.FetchName], reach)
	search, err2 := web.NewSearch(s.ToolSettings[web.SearchName], a.searchService(cfg.Search), reach)
	return []tool.Tool{fetch, search}, errors.Join(err, err2)
}

// searchService is who answers searches; nil: nobody does. Its key is read when it
// is asked.
func (a *App) searchService(c config.Search) *web.Service {
	if c.Kind == "" {
		return nil
	}
	s := &web.Service{Kind: c.Kind, URL: c.URL, KeyName: c.KeyEnv}
	if c.KeyEnv != "" {
		s.Key = func() string { return a.opts.Getenv(c.KeyEnv) }
	}
	return s
}

// keyVariables are the variables of the environment that hold keys.
func (a *App) keyVariables() []string {
	s := a.now()
	return slices.Concat(a.shownVariables(withServices(withSearch(s.models.KeyVariables(), s.config), s.config)), s.ofServers, a.servers.hidden.names())
}

// withSearch adds the one of the search service.
func withSearch(names []string, c *config.Config) []string {
	if v := c.Search.KeyEnv; v != "" && !slices.Contains(names, v) {
		return append(slices.Clone(names), v)
	}
	return names
}
