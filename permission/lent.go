package permission

import (
	"errors"

	"github.com/rosterrun/roster/source"
)

// Lent are rules that somebody who is trusted has written for a while, such as the
// allowed-tools of a skill that is in use: each turns what would be asked for into
// what is allowed. A denial, a refusal and the host's policy stand, and so does what a
// rule asks for by a pattern of its own, as in bash "git push*"; a built-in one, as in
// read "*.env", gives way to a lent rule that has a pattern too. It is immutable.
type Lent struct{ rules *ruleset }

// CompileLent makes Lent of the allow rules of a list; others have no effect. A rule
// that cannot be understood is left out, and in the error.
func CompileLent(rules []Rule) (*Lent, error) {
	var fit []Rule
	var errs []error
	for _, r := range rules {
		if r.Effect != Allow {
			continue
		}
		if _, err := compileRules([]Rule{r}, false); err != nil {
			errs = append(errs, err)
			continue
		}
		r.Untrusted = false
		fit = append(fit, r)
	}
	set, err := compileRules(fit, false)
	return &Lent{set}, errors.Join(append(errs, err)...)
}

// over turns a question of the rules into a yes.
func (l *Lent) over(t *target, v verdict) verdict {
	if l == nil || v.effect != Ask {
		return v
	}
	effect, rule := l.rules.judge(t, Ask)
	if effect != Allow || rule == nil || v.asksFor(rule) {
		return v
	}
	return verdict{Allow, rule, StepLent}
}

// asksFor says that a question stands though a lent rule would allow it: somebody
// wants to be asked for this in particular. Of the built-in rules it stands over a
// lent one for everything.
func (v verdict) asksFor(lent *Rule) bool {
	if v.step != StepRule || v.rule.Subject == "*" {
		return false
	}
	return v.rule.At.Layer != source.Builtin || lent.Subject == "*"
}
