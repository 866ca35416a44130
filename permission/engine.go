package permission

import (
	"errors"
	"fmt"
	"slices"
)

// The reasons of a Decision.
const (
	ReasonRule           = "a permission rule decides"
	ReasonDefault        = "no permission rule matches; the default decides"
	ReasonHost           = "the host policy decides"
	ReasonUntrusted      = "the rule that allows this is of a workspace that is not trusted (see roster trust), or of a request, so it counts as ask"
	ReasonUntrustedAlone = ReasonUntrusted + "; nobody is there to answer"
	ReasonHeadless       = "this would have to be asked for, and nobody is there to answer"
	ReasonNoQuery        = "the call does not say what it needs"
	ReasonAddress        = "the address is no plain http or https URL: it needs a host in ASCII, and no user name or password"
	ReasonState          = "the path is in roster's own state directory, which no tool may use"
	ReasonUnusable       = "the call cannot be made as it is written"
	ReasonPlan           = "in permission mode plan, only reading is possible"
	ReasonEdits          = "in permission mode accept-edits, files of the workspace may be written"
	ReasonDontAsk        = "this would have to be asked for, and in permission mode dont-ask nobody is asked"
	ReasonBypass         = "in permission mode bypass, nothing is asked for"
	ReasonAbove          = "it is denied to the agent that delegates, whose denials its subagents inherit"
	ReasonLent           = "it is allowed by what is in use, such as a skill, for as long as the loop goes on"
	ReasonDenial         = "it was refused before in this session"
	ReasonSessionGrant   = "it was allowed for this session"
	ReasonWorkspaceGrant = "it was allowed for this workspace"
)

// The tools whose subjects are no plain text.
const (
	bash     = "bash"
	task     = "task"
	webfetch = "webfetch"
)

// addressed are the tools whose subjects are addresses of the web. It is never
// written.
var addressed = [...]string{webfetch, "browser_open", "browser_read", "browser_click", "browser_fill", "browser_screenshot"}

func ofAddress(tool string) bool { return slices.Contains(addressed[:], tool) }

// Engine answers queries by its rules. It is immutable and safe for concurrent
// use. The zero Engine and nil deny everything.
type Engine struct {
	rules, host *ruleset
	now         *ruleset // the host's policy as it is now; nil: that is host
	others      *ruleset // the rules that are not marked as untrusted
	fallback    Effect
	mode        Mode
	headless    bool
	profile     string
	workspace   string
	grants      Grants
	above       []*Engine // whose denials hold too
	off         faculty
}

// faculty is a set of things that an Engine does. Only the test that each of
// them matters takes one away.
type faculty uint16

const (
	byRules faculty = 1 << iota
	byDefault
	byTrust
	byMode
	byDenials
	bySessionGrants
	byWorkspaceGrants
	byHost
	byHeadless
	ofEveryPart
	ofRedirects
	ofBaseNames
	ofHoles
	byLent
	lastFaculty
)

func (e *Engine) does(f faculty) bool { return e.off&f == 0 }

// Compile makes an Engine of its layers. A rule that cannot be understood is
// an error that names it.
func Compile(l Layers) (*Engine, error) {
	if l.Default > Allow {
		return nil, fmt.Errorf("default permission: %s is none of allow, ask and deny", l.Default)
	}
	if l.Mode > ModeBypass {
		return nil, fmt.Errorf("%s is no permission mode", l.Mode)
	}
	rules, err := compileRules(l.Rules, false)
	host, hostErr := compileRules(l.Host, true)
	if err := errors.Join(err, hostErr); err != nil {
		return nil, err
	}
	var now *ruleset
	if len(l.HostNow) > 0 {
		if now, err = compileRules(l.HostNow, true); err != nil {
			return nil, err
		}
	}
	others := rules
	if marked := func(r Rule) bool { return r.Untrusted }; slices.ContainsFunc(l.Rules, marked) {
		if others, err = compileRules(slices.DeleteFunc(slices.Clone(l.Rules), marked), false); err != nil {
			return nil, err
		}
	}
	return &Engine{
		rules: rules, host: host, now: now, others: others, fallback: l.Default, mode: l.Mode, headless: l.Headless,
		profile: l.Profile, workspace: l.Workspace,
	}, nil
}

// With returns the engine with answers that people gave, which it looks up for
// what it would ask for.
func (e *Engine) With(g Grants) *Engine {
	if e == nil {
		return nil
	}
	c := *e
	c.grants = g
	return &c
}

// Mode is the permission mode of the engine.
func (e *Engine) Mode() Mode {
	if e == nil {
		return ModeDefault
	}
	return e.mode
}

// Attended says whether somebody answers what is asked for.
func (e *Engine) Attended() bool { return e != nil && !e.headless && e.mode != ModeDontAsk }

// Decide judges all queries together: the strictest part wins, and no query
// denies. The subject of a query for bash is the command line as written.
// Parts is set for several queries and for bash.
func (e *Engine) Decide(queries ...Query) Decision {
	if e == nil || e.rules == nil || len(queries) == 0 {
		return Decision{Step: StepNone, Reason: ReasonNoQuery}
	}
	if len(e.above) > 0 {
		return e.under(queries)
	}
	if len(queries) == 1 {
		return e.decide(queries[0])
	}
	var strictest Decision
	parts := make([]Part, 0, len(queries))
	grantable := true
	for i, q := range queries {
		d := e.decide(q)
		if d.Parts == nil {
			d.Parts = []Part{{Query: q, Effect: d.Effect, Rule: d.Rule}}
		}
		parts = append(parts, d.Parts...)
		grantable = grantable && (d.Effect != Ask || d.Grantable)
		if i == 0 || d.Effect < strictest.Effect {
			strictest = d
		}
	}
	strictest.Parts = parts
	strictest.Grantable = strictest.Effect == Ask && grantable
	return strictest
}

// Asks lists the queries that somebody has to answer: what a grant for the call
// consists of.
func (e *Engine) Asks(queries ...Query) []Query {
	return slices.DeleteFunc(slices.Clone(queries), func(q Query) bool { return e.Decide(q).Effect != Ask })
}

func (e *Engine) decide(q Query) Decision {
	t := target{tool: q.Tool, text: textOf(q.Subject)}
	switch q.Tool {
	case "":
		return Decision{Step: StepNone, Reason: ReasonNoQuery}
	case bash:
		return e.decideLine(q)
	}
	if ofAddress(q.Tool) {
		a, ok := parseAddress(q.Subject)
		if !ok {
			return Decision{Step: StepNone, Reason: ReasonAddress}
		}
		t.url = &a
	}
	return e.conclude(q, e.judge(&t), e.cap(&t), t.holes != nil)
}

// verdict is what one step says.
type verdict struct {
	effect Effect
	rule   *Rule
	step   Step
}

// judge takes the first two steps: the rules, and the mode.
func (e *Engine) judge(t *target) verdict {
	v := verdict{e.fallback, nil, StepDefault}
	if !e.does(byDefault) {
		v.effect = Allow
	}
	if e.does(byRules) {
		if v.effect, v.rule = e.rules.judge(t, v.effect); v.rule != nil {
			v.step = StepRule
		}
		v = e.cautious(t, v)
	}
	if e.does(byLent) {
		v = e.grants.Lent.over(t, v)
	}
	if effect := e.mode.on(v.effect, t.tool, t.s); effect != v.effect && e.does(byMode) {
		v.effect, v.step = effect, StepMode
	}
	return v
}

// cautious replaces the allow of an untrusted rule by what the other rules say,
// if that is more than to ask.
func (e *Engine) cautious(t *target, v verdict) verdict {
	if v.rule == nil || !v.rule.Untrusted || v.effect != Allow || !e.does(byTrust) {
		return v
	}
	if effect, rule := e.others.judge(t, Ask); rule != nil && effect != Ask {
		return verdict{effect, rule, StepRule}
	}
	return verdict{Ask, v.rule, StepTrust}
}

// cap is what the host's policy says.
func (e *Engine) cap(t *target) verdict {
	v := verdict{Allow, nil, StepHost}
	if e.does(byHost) {
		v.effect, v.rule = e.host.judge(t, Allow)
	}
	if e.now != nil && e.does(byHost) {
		if effect, rule := e.now.judge(t, Allow); effect < v.effect {
			v.effect, v.rule = effect, rule
		}
	}
	return v
}

// conclude takes the steps that look at a query as a whole: what people
// answered, the host's policy, and that nobody may be there to answer. unknown
// says that parts of the query are not known.
func (e *Engine) conclude(q Query, v, host verdict, unknown bool) Decision {
	grantable := v.effect == Ask && !unknown && host.effect > Ask
	switch {
	case v.effect == Ask:
		v = e.answered(q, v, unknown)
	case v.effect == Allow && (e.grants.Binding || e.grants.Lent != nil) && e.refused(q):
		v.effect, v.step = Deny, StepDenial
	}
	if host.effect < v.effect {
		v = host
		if v.effect == Ask && e.refused(q) {
			v.effect, v.step = Deny, StepDenial
		}
	}
	untrusted := v.step == StepTrust
	switch {
	case v.effect != Ask:
	case e.mode == ModeDontAsk && e.does(byMode):
		v.effect, v.step = Deny, StepMode
	case e.headless && e.does(byHeadless):
		v.effect, v.step = Deny, StepHeadless
	}
	d := Decision{Effect: v.effect, Rule: v.rule, Step: v.step, Reason: e.reason(v.step), Grantable: grantable && v.effect == Ask}
	if untrusted && v.step == StepHeadless {
		d.Reason = ReasonUntrustedAlone
	}
	return d
}

// answered looks a question up among the answers that hold.
func (e *Engine) answered(q Query, v verdict, unknown bool) verdict {
	granted := func(g Grant) bool { return g.Effect == Allow && g.Query == q && g.Profile == e.profile }
	switch {
	case e.refused(q):
		v.effect, v.step = Deny, StepDenial
	case unknown:
	case slices.ContainsFunc(e.grants.Session, granted) && e.does(bySessionGrants):
		v.effect, v.step = Allow, StepSessionGrant
	case slices.ContainsFunc(e.grants.Workspace, granted) && e.does(byWorkspaceGrants):
		v.effect, v.step = Allow, StepWorkspaceGrant
	}
	return v
}

// refused says that somebody has refused this for the session, for whichever
// profile.
func (e *Engine) refused(q Query) bool {
	return e.does(byDenials) && slices.ContainsFunc(e.grants.Session, func(g Grant) bool { return g.Effect == Deny && g.Query == q })
}

func (e *Engine) reason(s Step) string {
	switch s {
	case StepRule:
		return ReasonRule
	case StepDefault:
		return ReasonDefault
	case StepTrust:
		return ReasonUntrusted
	case StepMode:
		return e.mode.reason()
	case StepLent:
		return ReasonLent
	case StepDenial:
		return ReasonDenial
	case StepSessionGrant:
		return ReasonSessionGrant
	case StepWorkspaceGrant:
		return ReasonWorkspaceGrant
	case StepHost:
		return ReasonHost
	case StepHeadless:
		return ReasonHeadless
	case StepAbove:
		return ReasonAbove
	}
	return ReasonNoQuery
}

// Offered says whether a model should be told of the tool: whether there is
// anything that it may do with it, or may ask for.
func (e *Engine) Offered(tool string) bool { return e.Offer(tool).Effect != Deny }

// Offer is Offered with what decides it: for a tool that is offered, the rule by
// which the most may be done with it.
func (e *Engine) Offer(tool string) Decision {
	if e == nil || e.rules == nil || tool == "" {
		return Decision{Step: StepNone, Reason: ReasonNoQuery}
	}
	v := verdict{e.fallback, nil, StepDefault}
	if v.effect, v.rule = e.rules.offer(tool, e.fallback); v.rule != nil {
		v.step = StepRule
	}
	if v.rule != nil && v.rule.Untrusted && v.effect == Allow { // the others say whether it is more than ask
		v = verdict{Ask, v.rule, StepTrust}
		if effect, rule := e.others.offer(tool, e.fallback); effect == Allow {
			v = verdict{Allow, rule, StepRule}
		}
		if v.rule == nil {
			v.step = StepDefault
		}
	}
	if cap, rule := e.host.offer(tool, Allow); cap < v.effect {
		v = verdict{cap, rule, StepHost}
	}
	if e.mode == ModePlan && v.effect != Deny && !onlyReads(tool) {
		v.effect, v.step = Deny, StepMode
	}
	d := Decision{Effect: v.effect, Rule: v.rule, Step: v.step, Reason: e.reason(v.step)}
	for _, o := range e.above {
		if theirs := o.Offer(tool); theirs.Effect == Deny && d.Effect != Deny {
			d = Decision{Rule: theirs.Rule, Step: StepAbove, Reason: ReasonAbove}
		}
	}
	return d
}
