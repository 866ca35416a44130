package habit

import "github.com/rosterrun/roster/session"

const askReview = `Look at this before a plan is made of it. Answer with these four sections, in few words, "none" where there is nothing, and with nothing else:

WRONG ASSUMPTIONS AND RISKS
SIMPLER PATH
MISSING REQUIREMENTS AND CHECKS
CONCRETE ADJUSTMENTS`

// review looks for what is wrong with an analysis.
func review(a *session.Plan) *Ask {
	return phase(session.PlanReview, said(a, nil)+askReview, func(*session.Plan) {})
}
