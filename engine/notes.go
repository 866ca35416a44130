package engine

import "github.com/rosterrun/roster/session"

// noted is what the session has noted of its work, for a call that runs.
func (r *run) noted() session.Work {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.s.Work; w != nil {
		return *w
	}
	return session.Work{}
}

// sawFile gives the state in which the session has last seen a file, for a call that runs.
func (r *run) sawFile(path string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.s.Seen(path)
}
