package roster

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/rosterrun/roster/internal/wire"
	modelcatalog "github.com/rosterrun/roster/model/catalog"
)

// Bounds of looking who answers: how long one server is waited for, and how many are
// asked at the same time.
const (
	reachTime = 5 * time.Second
	reachMost = 16
)

// Reach looks who answers of those that runs would connect to: the providers of models
// whose keys are there, MCP servers at an address, and the search service. Each is
// asked for / at its host, for the rest of an address may be a secret; whatever it
// answers with, it is reached. It sends no key and reads none.
func (a *App) Reach(ctx context.Context) []Finding {
	d := &doctor{App: a, ctx: ctx}
	asked := d.addresses()
	d.found = make([]Finding, len(asked))
	var all sync.WaitGroup
	places := make(chan struct{}, reachMost)
	for i, to := range asked {
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			d.found[i] = d.reached(to)
		})
	}
	all.Wait()
	return d.found
}

// addressed is a server, and the scheme and host at which it is.
type addressed struct{ name, origin string }

func (d *doctor) addresses() (list []addressed) {
	add := func(name, address string) {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			list = append(list, addressed{name, u.Scheme + "://" + u.Host})
		}
	}
	for _, p := range d.Models().Keys() {
		here := p.API == modelcatalog.APIScript || p.API == modelcatalog.APIBuiltin
		if p.Withheld == nil && p.Source != "" && !here {
			add(p.Provider, p.BaseURL)
		}
	}
	if s, _, err := d.serverSpec(""); err == nil {
		for i := range s.Servers {
			if x := &s.Servers[i]; !strings.Contains(x.Reach.URL, "$") { // a variable is not read
				add(x.Name, x.Reach.URL)
			}
		}
	}
	add("search", d.Config().Search.URL)
	return list
}

func (d *doctor) reached(to addressed) Finding {
	ctx, cancel := context.WithTimeoutCause(d.ctx, reachTime, fmt.Errorf("no answer within %v", reachTime))
	defer cancel()
	start := time.Now()
	err := wire.Reach(ctx, d.client, to.origin+"/")
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return Finding{
			Area: "reach", Name: to.name, Status: "warning", Detail: fmt.Sprintf("%s: %v", to.origin, err),
			Hint: "check its address, that it runs, and the proxy variables",
		}
	}
	took := time.Since(start).Round(time.Millisecond)
	return Finding{Area: "reach", Name: to.name, Status: "ok", Detail: fmt.Sprintf("%s answers, after %v", to.origin, took)}
}
