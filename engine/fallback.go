package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
)

// A model that failed is not asked again for coolDown, or for as long as it
// asked for, but for no longer than maxCoolDown.
const (
	coolDown    = time.Minute
	maxCoolDown = time.Hour
)

// link is one model of the chain, with what is its own.
type link struct {
	model.Model
	price      spec.Price
	window     int // 0: not known
	output     int // 0: not known
	params     model.Params
	paramsJSON []byte
}

func newLink(m model.Model, s *spec.Spec, as spec.Model) (link, error) {
	l := link{Model: m, price: as.Price, window: as.ContextWindow, output: as.MaxOutput, params: model.Params{
		Temperature: s.Params.Temperature, TopP: s.Params.TopP, MaxTokens: s.Params.MaxTokens,
	}}
	level := as.Level(s.Params.Thinking, s.Params.Temperature != nil || s.Params.TopP != nil)
	if !as.Samples(level) {
		l.params.Temperature, l.params.TopP = nil, nil
	}
	l.params.Thinking = model.Thinking(level)
	l.params.Cache = cacheOf(s)
	var err error
	if l.params != (model.Params{}) {
		l.paramsJSON, err = json.Marshal(l.params)
	}
	return l, err
}

// cacheOf is where a spec has breakpoints.
func cacheOf(s *spec.Spec) model.Cache {
	switch {
	case s.Cache == string(model.CacheOff), s.Cache == "manual" && len(s.CacheBreakpoints) == 0:
		return model.CacheOff
	case s.Cache == "manual":
		return model.Cache(strings.Join(s.CacheBreakpoints, ","))
	}
	return model.CacheAuto
}

// cost prices what a call took.
func (l *link) cost(u *message.Usage) float64 {
	p := &l.price
	return (float64(u.Input)*p.Input + float64(u.Output)*p.Output +
		float64(u.CacheRead)*p.CacheRead + float64(u.CacheWrite)*p.CacheWrite) / 1e6
}

// newChain makes the chain of a spec: its model and the fallbacks.
func newChain(s *spec.Spec, m model.Model, fallbacks []model.Model) ([]link, error) {
	if len(fallbacks) != len(s.Fallbacks) {
		return nil, fmt.Errorf("the spec has %d fallbacks, and %d models are given for them", len(s.Fallbacks), len(fallbacks))
	}
	chain := make([]link, 1, 1+len(fallbacks))
	var err error
	if chain[0], err = newLink(m, s, s.Model); err != nil {
		return nil, err
	}
	for i, f := range fallbacks {
		next, err := newLink(f, s, s.Fallbacks[i])
		if err != nil {
			return nil, err
		}
		chain = append(chain, next)
	}
	return chain, nil
}

// choose picks the model for the next call: the first of the chain that does not
// rest, or the first of all.
func (r *run) choose(l *session.Loop) {
	r.link = &r.models[0]
	for i := range r.models {
		if !r.st.Root.Rests(r.models[i].Name(), r.now) {
			r.link = &r.models[i]
			break
		}
	}
	if len(r.models) > 1 && r.link.Name() != l.Model {
		r.emit(&session.Fallback{From: l.Model, To: r.link.Name()})
	}
}

// fallBack goes on to the next model of the chain that does not rest, after a
// failure of the provider. It gives false if there is none, or if another model
// would not help.
func (r *run) fallBack(err error, d *session.Error) bool {
	e := model.AsError(err)
	if e == nil || !e.Outage() {
		return false
	}
	failed := r.link
	past := false
	for i := range r.models {
		if &r.models[i] == failed {
			past = true
			continue
		}
		if !past || r.st.Root.Rests(r.models[i].Name(), r.now) {
			continue
		}
		r.link = &r.models[i]
		r.emit(&session.Fallback{
			From: failed.Name(), To: r.link.Name(), Code: d.Code, Error: d.Error,
			Until: r.now.Add(min(max(coolDown, e.RetryAfter), maxCoolDown)),
		})
		return true
	}
	return false
}
