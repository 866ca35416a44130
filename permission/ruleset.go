package permission

import (
	"errors"
	"fmt"
	"slices"
)

// ruleset is a list of rules, kept apart by tool: for each tool that a rule
// names all that hold for it, and for all others those with a pattern.
type ruleset struct {
	named     map[string]list
	patterned list
	empty     bool
}

// list holds rules in their order, and side by side the ends of their subjects
// and, for tools of addresses, those of their hosts.
type list struct {
	rules       []compiled
	ends, hosts []fixedEnds
}

func (l list) with(c compiled, tool string) list {
	l.rules, l.ends = append(l.rules, c), append(l.ends, c.subject.ends)
	if ofAddress(tool) {
		l.hosts = append(l.hosts, c.url.host.ends)
	}
	return l
}

type compiled struct {
	subject, tool Pattern
	url           *urlPattern // of a rule for a tool of addresses
	rule          *Rule
	effect        Effect
	// strict is what the rule gives at least: ask for an allow that counts for no
	// more than other rules do.
	strict Effect
}

// compileRules compiles a list. In that of the host a star stands for task too.
func compileRules(rules []Rule, host bool) (*ruleset, error) {
	set := &ruleset{named: map[string]list{}, empty: len(rules) == 0}
	all := make([]compiled, 0, len(rules))
	var errs []error
	for i := range rules {
		c, err := compileRule(rules[i])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: permission rule %q %q: %w", rules[i].At, rules[i].Tool, rules[i].Subject, err))
			continue
		}
		all = append(all, c)
		if c.tool.literal() {
			set.named[c.rule.Tool] = list{}
		} else {
			set.patterned = set.patterned.with(c, "")
		}
	}
	for _, tool := range append(addressed[:len(addressed):len(addressed)], task, ExternalDirectory, Protected) {
		set.named[tool] = list{}
	}
	for tool := range set.named {
		for i := range all {
			if c := &all[i]; c.holdsFor(tool, host) {
				set.named[tool] = set.named[tool].with(*c, tool)
			}
		}
	}
	return set, errors.Join(errs...)
}

func compileRule(r Rule) (c compiled, err error) {
	if r.Tool == "" {
		return c, errors.New("the tool is empty; name one, or write *")
	}
	if r.Effect > Allow {
		return c, fmt.Errorf("%s is none of allow, ask and deny", r.Effect)
	}
	c.rule, c.effect, c.strict = &r, r.Effect, r.Effect
	if r.Untrusted {
		c.strict = min(c.strict, Ask)
	}
	if c.tool, err = ParsePattern(r.Tool); err != nil {
		return c, err
	}
	if c.subject, err = ParsePattern(r.Subject); err != nil {
		return c, err
	}
	if slices.ContainsFunc(addressed[:], c.tool.Match) {
		c.url, err = parseURLPattern(r.Subject)
	}
	return c, err
}

// holdsFor says whether the rule is for the tool. "*" is for no pseudo-tool,
// and whom a profile delegates to is decided by rules that name task.
func (c *compiled) holdsFor(tool string, host bool) bool {
	switch {
	case c.tool.Any() && (tool == ExternalDirectory || tool == Protected):
		return false
	case tool == task && !host:
		return c.rule.Tool == task
	}
	return c.tool.Match(tool)
}

// of lists rules among which all those for the tool are; others says that there
// may be some for other tools too.
func (s *ruleset) of(tool string) (rules list, others bool) {
	if rules, ok := s.named[tool]; ok {
		return rules, false
	}
	return s.patterned, true
}

// judge finds the verdict of the last rule that matches, and otherwise the
// given one. Of a subject with holes it is the strictest that some filling of
// them would get.
func (s *ruleset) judge(t *target, otherwise Effect) (Effect, *Rule) {
	if s.empty {
		return otherwise, nil
	}
	l, others := s.of(t.tool)
	plain := t.plain()
	var toolEnds ends
	if others {
		toolEnds = endsOf(t.tool)
	}
	var found *compiled
	for i := len(l.rules) - 1; i >= 0; i-- {
		switch {
		case plain:
			i = fitting(l.ends[:i+1], t.ends)
		case t.url != nil:
			i = fittingURL(l.ends[:i+1], l.hosts[:i+1], t)
		}
		if i < 0 {
			break
		}
		c := &l.rules[i]
		if others && !(c.tool.ends.fit(toolEnds) && c.tool.Match(t.tool)) {
			continue
		}
		m := c.match(t)
		if m == never {
			continue
		}
		if found == nil || c.strict < found.strict || c.strict == found.strict && c.effect < found.effect {
			found = c
		}
		if m == always || found.effect == Deny {
			return found.effect, found.rule
		}
	}
	if found != nil && found.strict <= otherwise {
		return found.effect, found.rule
	}
	return otherwise, nil
}

// fitting gives the last of the ends that a subject may have, or -1. Most of a
// decision's time is spent here, in a loop that stays in registers.
func fitting(list []fixedEnds, subject ends) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].fit(subject) {
			return i
		}
	}
	return -1
}

// fittingURL is fitting for a URL: the host may fit, or the text, as it is written
// or as it is read.
func fittingURL(list, hosts []fixedEnds, t *target) int {
	host, text, written := t.url.ends, t.url.textEnds, t.ends
	if text == written { // as most are: then one of the two is enough
		for i := len(list) - 1; i >= 0; i-- {
			if hosts[i].fit(host) || list[i].fit(text) {
				return i
			}
		}
		return -1
	}
	for i := len(list) - 1; i >= 0; i-- {
		if hosts[i].fit(host) || list[i].fit(text) || list[i].fit(written) {
			return i
		}
	}
	return -1
}

// offer says what the most is that may be done with a tool, on whatever subject:
// the laxest of its rules, read from the last one back as far as one for every
// subject.
func (s *ruleset) offer(tool string, otherwise Effect) (most Effect, by *Rule) {
	l, others := s.of(tool)
	for _, c := range slices.Backward(l.rules) {
		if others && !c.tool.Match(tool) {
			continue
		}
		if by == nil && c.subject.Any() || c.effect > most {
			most, by = c.effect, c.rule
		}
		if c.subject.Any() {
			return most, by
		}
	}
	if by == nil || otherwise > most {
		return otherwise, nil
	}
	return most, by
}

// target is a subject as rules are held against it.
type target struct {
	tool string
	text
	url *address // of a tool of addresses
	// base is the text with the command's base name, if that is another.
	// Denials and questions match it too.
	base *text
	// bare are texts without the assignments in front. A denial or question
	// that matches one of them counts beside what matches the text.
	bare []text
}

// plain says that a rule matches the text or does not.
func (t *target) plain() bool {
	return t.holes == nil && t.base == nil && t.bare == nil && t.url == nil
}

// matched says for which fillings of a target's holes a rule matches.
type matched uint8

const (
	never matched = iota
	maybe
	always
)

func (c *compiled) match(t *target) matched {
	if t.url != nil {
		return c.matchURL(t)
	}
	m := c.matchText(&t.text)
	if c.effect == Allow || m == always {
		return m
	}
	if t.base != nil {
		m = max(m, c.matchText(t.base))
	}
	for i := range t.bare {
		if m == never && c.matchText(&t.bare[i]) != never {
			m = maybe
		}
	}
	return m
}

func (c *compiled) matchText(t *text) matched {
	switch {
	case c.subject.Match(t.s):
		return always
	case t.holes != nil && c.strict != Allow && c.subject.mayMatch(t):
		return maybe
	}
	return never
}
