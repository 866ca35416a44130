package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rosterrun/roster/permission"
)

// Set is the hooks of a run by their event. It is immutable and safe for
// concurrent use; nil has none.
type Set struct{ by map[Event][]matched }

type matched struct {
	Hook
	match permission.Pattern
}

// NewSet makes a set of hooks, which are asked in this order; nil of none.
func NewSet(hooks ...Hook) (*Set, error) {
	if len(hooks) == 0 {
		return nil, nil
	}
	s := &Set{by: map[Event][]matched{}}
	for _, h := range hooks {
		if err := h.check(); err != nil {
			return nil, fmt.Errorf("hook %s: %w", cmp.Or(h.Name, string(h.On)), err)
		}
		m := matched{Hook: h}
		m.Name, m.Timeout = cmp.Or(h.Name, string(h.On)), cmp.Or(h.Timeout, DefaultTimeout)
		m.match, _ = permission.ParsePattern(cmp.Or(h.Match, "*"))
		s.by[h.On] = append(s.by[h.On], m)
	}
	return s, nil
}

// With is the hooks of both, those of more asked last.
func (s *Set) With(more *Set) *Set {
	if s == nil || more == nil {
		return cmp.Or(s, more)
	}
	all := &Set{by: maps.Clone(s.by)}
	for on, list := range more.by {
		all.by[on] = slices.Concat(all.by[on], list)
	}
	return all
}

func (h *Hook) check() error {
	_, err := permission.ParsePattern(h.Match)
	switch {
	case !slices.Contains(Events(), h.On):
		return fmt.Errorf("%q is no event", h.On)
	case h.Ask == nil:
		return errors.New("it has nothing to ask")
	case h.Match != "" && !h.On.OfTool():
		return fmt.Errorf("match is for events of tools, and %s is none", h.On)
	case h.Timeout < 0 || h.Timeout > MaxTimeout:
		return fmt.Errorf("a timeout is at most %s", MaxTimeout)
	}
	return err
}

// Has says whether a hook would be asked at an event, about a tool if it is one
// of tools.
func (s *Set) Has(on Event, tool string) bool {
	return s != nil && slices.ContainsFunc(s.by[on], func(m matched) bool { return m.about(tool) })
}

func (m *matched) about(tool string) bool { return !m.On.OfTool() || m.match.Match(tool) }

// Answer is what the hooks of an event come to.
type Answer struct {
	Verdict
	// By names the hooks that decided or rewrote; empty when all only allow.
	By string
	// Failed says that it is a denial because the hook did not answer as it
	// should.
	Failed bool
}

// Ask asks the hooks of an event one after another. The first that denies is
// the last that is asked. What one rewrites, the next one is told. Of ask and
// approve the stricter counts.
func (s *Set) Ask(ctx context.Context, m Moment) Answer {
	sum := Answer{Verdict: Verdict{Decision: Allow}}
	if s == nil {
		return sum
	}
	var by, reasons []string
	for _, h := range s.by[m.Event] {
		if !h.about(m.Tool) {
			continue
		}
		v, err := h.ask(ctx, m)
		if err != nil {
			return Answer{Verdict{Decision: Deny, Reason: err.Error()}, h.Name, true}
		}
		switch v.Decision {
		case Deny:
			return Answer{Verdict{Decision: Deny, Reason: v.Reason}, h.Name, false}
		case Allow:
			continue
		case Approve:
			if sum.Decision == Ask {
				continue
			}
		case Ask:
			if sum.Decision == Approve {
				by, reasons = nil, nil
			}
		case Rewrite:
			m.Input, m.Text = v.Input, v.Text
			sum.Input, sum.Text = v.Input, v.Text
		}
		sum.Decision = v.Decision
		if by = append(by, h.Name); v.Reason != "" {
			reasons = append(reasons, v.Reason)
		}
	}
	sum.By, sum.Reason = strings.Join(by, ", "), strings.Join(reasons, "; ")
	return sum
}

// maxReason bounds a reason, in bytes.
const maxReason = 2 << 10

// ask asks one hook. Its error says how it failed.
func (h *matched) ask(ctx context.Context, m Moment) (v Verdict, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, h.Timeout, timedOut{h.Timeout})
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the hook failed: %v", p)
		}
	}()
	v, err = h.Ask(ctx, &m)
	if late := (timedOut{}); ctx.Err() != nil && errors.As(context.Cause(ctx), &late) {
		return v, late // whatever it says of it
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return v, fmt.Errorf("the hook failed: %w", err)
	}
	v.Reason = cut(strings.ToValidUTF8(v.Reason, "\uFFFD"), maxReason)
	v.Text = strings.ToValidUTF8(v.Text, "\uFFFD")
	return v, m.fits(&v)
}

type timedOut struct{ after time.Duration }

func (t timedOut) Error() string { return fmt.Sprintf("the hook gave no answer in %s", t.after) }

// fits says what is wrong with an answer for its event.
func (m *Moment) fits(v *Verdict) error {
	switch {
	case !m.offers(v.Decision):
		return fmt.Errorf("the hook answered %s, which there is not at %s", v.Decision, m.what())
	case v.Decision != Rewrite:
		return nil
	case m.Event == BeforeTool && !isObject(v.Input):
		return errors.New("the hook rewrote the call without giving its input as a JSON object")
	case m.Event == BeforeTool && v.Text != "":
		return errors.New("the hook rewrote a call with a text, which only messages and results have")
	case m.Event != BeforeTool && len(v.Input) > 0:
		return errors.New("the hook rewrote a text with an input, which only calls have")
	case m.Event != BeforeTool && v.Text == "":
		return errors.New("the hook rewrote a text to nothing")
	}
	return nil
}

func (m *Moment) what() string {
	if m.Role != "" {
		return fmt.Sprintf("%s (%s)", m.Event, m.Role)
	}
	return string(m.Event)
}

func isObject(data json.RawMessage) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(data, &object) == nil && object != nil
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
