package resolve

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/rosterrun/roster/config"
	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/trust"
)

// hooks lines up the hooks of all layers, and then those of the host: what one
// rewrites, the host's see. A layer takes none of those below it away.
func (r *resolver) hooks() {
	trace := spec.Trace{Origin: source.Origin{Layer: source.Builtin}}
	for i, l := range r.layers {
		list := l.Hooks
		if i >= r.own {
			var err error
			if list, err = hooksOf(r.in.Trust, r.written[i-r.own]); err != nil {
				r.badHook(err)
				return
			}
		}
		if len(list) == 0 {
			continue
		}
		for _, e := range list {
			e.At.Layer = l.Name
			r.out.Hooks = append(r.out.Hooks, e)
		}
		trace.Origin = r.out.Hooks[len(r.out.Hooks)-1].At
	}
	for _, e := range r.in.Config.Hooks {
		e.At.Layer = source.Host
		r.out.Hooks = append(r.out.Hooks, e)
		trace.Origin = e.At
	}
	r.out.Origins["hooks"] = trace
}

func (r *resolver) badHook(err error) {
	var bad *trust.HookError
	if errors.As(err, &bad) {
		r.fail(bad.Item.Key, bad.Item.At, bad.Err.Error(), "")
		return
	}
	r.err = err
}

// hooksOf reads the hooks of a profile that act.
func hooksOf(v trust.View, p *profile.Profile) ([]hook.Entry, error) {
	h, err := p.Hooks()
	switch {
	case err != nil:
		return nil, &trust.HookError{Item: trust.Item{Key: h.Key, At: h.At}, Err: err}
	case h == nil:
		return nil, nil
	}
	return v.Hooks(p.Name, h.Key, h.Value, h.Place)
}

// HooksNow gives a spec that stands in a log the host's hooks of this moment,
// beside those that it began with. It changes nothing in s.
func HooksNow(s *spec.Spec, now *config.Config) []hook.Entry {
	out := s.Hooks[:len(s.Hooks):len(s.Hooks)]
	for _, e := range now.Hooks {
		e.At.Layer = source.Host
		if !has(s.Hooks, e) {
			out = append(out, e)
		}
	}
	return out
}

func has(list []hook.Entry, e hook.Entry) bool {
	for _, o := range list {
		if o.Key == e.Key && o.Profile == e.Profile && o.Digest == e.Digest && o.At.File == e.At.File {
			return true
		}
	}
	return false
}

// Hook is a hook with its place.
type Hook struct {
	On      hook.Event `json:"on"`
	Command string     `json:"command,omitempty"`
	URL     string     `json:"url,omitempty"` // without what may be a secret
	Match   string     `json:"match,omitempty"`
	Timeout string     `json:"timeout"`
	Place
}

func (h Hook) String() string {
	s := string(h.On)
	if h.Match != "" {
		s += fmt.Sprintf(" %q", h.Match)
	}
	return s + " " + cmp.Or(h.Command, h.URL)
}

func hooksIn(s *spec.Spec) []Hook {
	out := make([]Hook, len(s.Hooks))
	for i, e := range s.Hooks {
		out[i] = Hook{On: e.On, Match: e.Match, Timeout: cmp.Or(e.Timeout, hook.DefaultTimeout).String(), Place: place(e.At)}
		if e.Command != "" {
			out[i].Command = e.Command
		} else {
			out[i].URL = e.Does()
		}
	}
	return out
}
