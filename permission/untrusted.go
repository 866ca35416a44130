package permission

// Beyond says whether an allow of a workspace that nobody has trusted would
// allow more than the other rules do by themselves: more than a rule that
// allows all subjects of the tool and that no later one takes anything from.
func Beyond(r Rule, others []Rule) bool {
	if r.Effect != Allow {
		return false
	}
	tool, err := ParsePattern(r.Tool)
	if err != nil {
		return true
	}
	within := false
	for _, o := range others {
		pattern, err := ParsePattern(o.Tool)
		switch {
		case o.Untrusted || err != nil:
		case o.Effect == Allow && o.Subject == "*" && (o.Tool == r.Tool || o.Tool == "*"):
			within = true
		case o.Effect != Allow && (pattern.Match(r.Tool) || tool.Match(o.Tool)):
			within = false
		}
	}
	return !within
}
