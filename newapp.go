package roster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/source"
)

// NewApp opens a workspace to be served: it is Open for Options.Dir, and Start. The App
// is an http.Handler with all routes, and takes up what a process before it has left
// unfinished (Options.Claim). What has no effect is logged. Profiles that are not well
// defined are its error: each a *DefinitionError. Close ends it.
//
// As everywhere, nobody is asked who he is unless that is configured, and requests
// from other machines are refused then.
func NewApp(o Options) (*App, error) {
	o.Claim = true
	a, ds, err := Open(cmp.Or(o.Dir, "."), o)
	if err != nil {
		return nil, err
	}
	for i := range ds {
		a.opts.Log.Warn(ds[i].Error())
	}
	if err := a.Start(context.Background()); err != nil {
		return nil, errors.Join(err, a.Close(context.Background()))
	}
	return a, nil
}

// frontDoor is the handler that an App has for itself.
type frontDoor struct {
	mu     sync.Mutex
	host   *host.Host
	closed bool
}

func (f *frontDoor) open(make func() *host.Host) *host.Host {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.host == nil {
		f.host = make()
		if f.closed {
			f.host.Shutdown()
		}
	}
	return f.host
}

func (f *frontDoor) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed = true; f.host != nil {
		f.host.Shutdown()
	}
}

// ServeHTTP serves all routes, as Handler does. Close ends its streams.
func (a *App) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.front.open(a.Handler).ServeHTTP(w, r)
}

// ChatHandler serves POST /chat alone, at whatever path it is put: a prompt, and its
// answer when the run has ended.
func ChatHandler(a *App) http.Handler { return a.at("/chat") }

// StreamHandler serves POST /stream alone, at whatever path it is put: a prompt, and
// what happens as server-sent events.
func StreamHandler(a *App) http.Handler { return a.at("/stream") }

// at serves one route of the App's own handler.
func (a *App) at(path string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.front.open(a.Handler).At(path).ServeHTTP(w, r)
	})
}

// define checks what the program says of profiles.
func (a *App) define() error {
	o := &a.opts
	if s, ok := o.ResolveProfile.(*static); ok {
		if s.err != nil {
			return s.err
		}
		for _, p := range s.list {
			if err := p.apart(o.Capabilities); err != nil {
				return err
			}
			if o.Catalog == nil {
				continue
			}
			if err := o.Catalog.AddProfile(p.base); err != nil {
				return err
			}
		}
	}
	return a.setDefaults()
}

// inCode are the profiles of the program that stand in the catalog.
func (a *App) inCode() (sources []catalog.Source) {
	s, ok := a.opts.ResolveProfile.(*static)
	if !ok {
		return nil
	}
	for _, p := range s.list {
		sources = append(sources, catalog.Source{Name: p.base.Name, Profile: p.base, Claimed: true})
	}
	return sources
}

// setDefaults reads the keys that the program gives to all profiles.
func (a *App) setDefaults() error {
	d, keys := a.opts.Defaults, map[string]string{}
	if d.Model != "" {
		keys["model"] = d.Model
	}
	for key, v := range map[string]*float64{"temperature": d.Temperature, "top-p": d.TopP} {
		if v != nil {
			keys[key] = number(*v)
		}
	}
	if len(keys) == 0 && a.opts.Tools == nil {
		return nil
	}
	p, err := resolve.Keys(source.Defaults, keys)
	if err != nil {
		return fmt.Errorf("roster: Options.Defaults: %w", err)
	}
	if a.opts.Tools != nil {
		p.Tools = profile.Value[profile.Tools]{Set: true, V: profile.Tools{Names: []string{}}}
		p.Tools.V.Names = append(p.Tools.V.Names, listedNames(Capability{Builtin: a.opts.Tools})...)
	}
	a.defaults = p
	return nil
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
