package permission

// Under returns the engine with what others deny denied as well: what a deny
// rule of an agent, or its default, says no to is denied to those that it
// delegates to. What the others ask for or allow changes nothing.
func (e *Engine) Under(others ...*Engine) *Engine {
	if e == nil || len(others) == 0 {
		return e
	}
	c := *e
	c.above = append(c.above[:len(c.above):len(c.above)], others...)
	return &c
}

// under decides as the engine itself, and denies what one above it denies.
func (e *Engine) under(queries []Query) Decision {
	alone := *e
	alone.above = nil
	d := alone.Decide(queries...)
	for _, o := range e.above {
		if d.Effect == Deny {
			break
		}
		if theirs := o.Decide(queries...); theirs.Effect == Deny {
			d = theirs
			d.Step, d.Reason = StepAbove, ReasonAbove
		}
	}
	return d
}
