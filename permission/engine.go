package permission

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/rosterrun/roster/permission/shell"
)

// The reasons of a Decision.
const (
	ReasonRule       = "a permission rule decides"
	ReasonDefault    = "no permission rule matches; the default decides"
	ReasonHost       = "the host policy decides"
	ReasonUntrusted  = "the workspace is not trusted, so the rule that allows this counts as ask: see roster trust"
	ReasonHeadless   = "this would have to be asked for, and nobody is there to answer"
	ReasonNoQuery    = "the call does not say what it needs"
	ReasonUnparsable = "the command line cannot be parsed"
	ReasonNotSimple  = "rules for single commands exist and this line is more than one simple command; run one plain command at a time, without pipes, expansions, globs or redirections"
)

const bash = "bash"

// Engine answers queries by its rules. It is immutable and safe for concurrent
// use. The zero Engine and nil deny everything.
type Engine struct {
	rules, host []compiled
	others      []compiled // the rules that are not marked as untrusted
	fallback    Effect
	headless    bool
}

type compiled struct {
	tool, subject Pattern
	rule          *Rule
}

// Compile makes an Engine of its layers. A rule that cannot be understood is
// an error that names it.
func Compile(l Layers) (*Engine, error) {
	if l.Default > Allow {
		return nil, fmt.Errorf("default permission: %s is none of allow, ask and deny", l.Default)
	}
	rules, err := compileRules(l.Rules)
	host, hostErr := compileRules(l.Host)
	if err := errors.Join(err, hostErr); err != nil {
		return nil, err
	}
	return &Engine{rules: rules, host: host, others: trusted(rules), fallback: l.Default, headless: l.Headless}, nil
}

// trusted gives the rules without those that are marked.
func trusted(rules []compiled) []compiled {
	marked := func(c compiled) bool { return c.rule.Untrusted }
	if !slices.ContainsFunc(rules, marked) {
		return rules
	}
	return slices.DeleteFunc(slices.Clone(rules), marked)
}

// cautious replaces the allow of an untrusted rule by what find gives among the
// other rules, if that is more than to ask.
func (e *Engine) cautious(rule *Rule, find func([]compiled) *Rule) (*Rule, Effect) {
	switch {
	case rule == nil:
		return nil, e.fallback
	case !rule.Untrusted || rule.Effect != Allow:
		return rule, rule.Effect
	}
	if other := find(e.others); other != nil && other.Effect != Ask {
		return other, other.Effect
	}
	return rule, Ask
}

func compileRules(rules []Rule) ([]compiled, error) {
	out := make([]compiled, 0, len(rules))
	var errs []error
	for i := range rules {
		c, err := compileRule(rules[i])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: permission rule %q %q: %w", rules[i].At, rules[i].Tool, rules[i].Subject, err))
			continue
		}
		out = append(out, c)
	}
	return out, errors.Join(errs...)
}

func compileRule(r Rule) (c compiled, err error) {
	if r.Tool == "" {
		return c, errors.New("the tool is empty; name one, or write *")
	}
	if r.Effect > Allow {
		return c, fmt.Errorf("%s is none of allow, ask and deny", r.Effect)
	}
	c.rule = &r
	if c.tool, err = ParsePattern(r.Tool); err != nil {
		return c, err
	}
	c.subject, err = ParsePattern(r.Subject)
	return c, err
}

func (c *compiled) forTool(tool string) bool {
	if c.tool.Any() && (tool == ExternalDirectory || tool == Protected) {
		return false
	}
	return c.tool.Match(tool)
}

// Decide judges all queries together: the strictest part wins, and no query
// denies. The subject of a query for bash is the command line as written.
// Parts is set for several queries and for bash.
func (e *Engine) Decide(queries ...Query) Decision {
	if e == nil || len(queries) == 0 {
		return Decision{Reason: ReasonNoQuery}
	}
	if len(queries) == 1 {
		return e.decide(queries[0])
	}
	var strictest Decision
	parts := make([]Part, 0, len(queries))
	for i, q := range queries {
		d := e.decide(q)
		parts = append(parts, Part{Query: q, Effect: d.Effect, Rule: d.Rule})
		if i == 0 || d.Effect < strictest.Effect {
			strictest = d
		}
	}
	strictest.Parts = parts
	return strictest
}

func (e *Engine) decide(q Query) Decision {
	if q.Tool == "" {
		return Decision{Reason: ReasonNoQuery}
	}
	var d Decision
	if q.Tool == bash {
		d = e.decideLine(q)
	} else {
		find := func(rules []compiled) *Rule { return last(rules, q.Tool, q.Subject) }
		d = e.combine(find, find(e.host))
	}
	if d.Effect == Ask && e.headless {
		d.Effect, d.Reason = Deny, ReasonHeadless
	}
	return d
}

// combine caps the verdict of the rules by that of the host policy. find gives
// the rule that decides among some, or nil; host may be nil.
func (e *Engine) combine(find func([]compiled) *Rule, host *Rule) Decision {
	rule, effect := e.cautious(find(e.rules), find)
	d := Decision{Effect: effect, Rule: rule, Reason: ReasonDefault}
	switch {
	case rule != nil && rule.Effect != effect:
		d.Reason = ReasonUntrusted
	case rule != nil:
		d.Reason = ReasonRule
	}
	if host != nil && host.Effect < d.Effect {
		d = Decision{Effect: host.Effect, Rule: host, Reason: ReasonHost}
	}
	return d
}

func last(rules []compiled, tool, subject string) *Rule {
	for i := len(rules) - 1; i >= 0; i-- {
		if c := &rules[i]; c.forTool(tool) && c.subject.Match(subject) {
			return c.rule
		}
	}
	return nil
}

// decideLine judges a command line. What is not one simple command is judged
// only by rules for every line, and denied if a rule for some lines could have
// said something else.
func (e *Engine) decideLine(q Query) Decision {
	words, err := shell.Words(q.Subject)
	switch {
	case err == nil:
		line, base := commandNames(words)
		find := func(rules []compiled) *Rule { return lastCommand(rules, line, base) }
		d := e.combine(find, find(e.host))
		d.Parts = []Part{{Query: Query{bash, line}, Effect: d.Effect, Rule: d.Rule}}
		return d
	case !errors.Is(err, shell.ErrNotSimple):
		return Decision{Reason: ReasonUnparsable}
	}
	host, hostSure := everyLine(e.host, Allow)
	sure := true
	d := e.combine(func(rules []compiled) *Rule {
		rule, known := everyLine(rules, e.fallback)
		sure = sure && known
		return rule
	}, host)
	if d.Effect > Deny && (!sure || !hostSure) {
		return Decision{Reason: ReasonNotSimple}
	}
	return d
}

// commandNames joins the words as they are, and with the command's base name.
func commandNames(words []string) (line, base string) {
	line = strings.Join(words, " ")
	return line, path.Base(words[0]) + line[len(words[0]):]
}

// lastCommand finds the last rule for a simple command. Deny and ask match its
// base name too; allow matches only what is written.
func lastCommand(rules []compiled, line, base string) *Rule {
	for i := len(rules) - 1; i >= 0; i-- {
		c := &rules[i]
		if !c.forTool(bash) {
			continue
		}
		if c.subject.Match(line) || c.rule.Effect != Allow && c.subject.Match(base) {
			return c.rule
		}
	}
	return nil
}

// everyLine finds the last rule for all command lines. sure is false if a
// later rule, for some lines, says something else than it, or than otherwise
// when there is none.
func everyLine(rules []compiled, otherwise Effect) (rule *Rule, sure bool) {
	var others [Allow + 1]bool
	effect := otherwise
	for i := len(rules) - 1; i >= 0; i-- {
		c := &rules[i]
		if !c.forTool(bash) {
			continue
		}
		if c.subject.Any() {
			rule, effect = c.rule, c.rule.Effect
			break
		}
		others[c.rule.Effect] = true
	}
	others[effect] = false
	return rule, others == [Allow + 1]bool{}
}

// Offered says whether a model should be told of the tool: read from the last
// rule back, an allow or ask must come before a deny of every subject.
func (e *Engine) Offered(tool string) bool {
	if e == nil || tool == "" {
		return false
	}
	return offered(e.rules, tool, e.fallback != Deny) && offered(e.host, tool, true)
}

func offered(rules []compiled, tool string, otherwise bool) bool {
	for i := len(rules) - 1; i >= 0; i-- {
		c := &rules[i]
		switch {
		case !c.forTool(tool):
		case c.rule.Effect != Deny:
			return true
		case c.subject.Any():
			return false
		}
	}
	return otherwise
}
