package tool

import (
	"sync"

	"github.com/rosterrun/roster/tool/internal/pinned"
)

const (
	maxSessions = 1024 // in a Ledger; the one that was used least recently is forgotten
	maxFiles    = 4096 // of one session
)

// Ledger remembers which state of which file each session has last seen, so
// that a tool does not overwrite what somebody else wrote since. It is safe
// for concurrent use.
type Ledger struct {
	mu       sync.Mutex
	clock    uint64
	sessions map[string]*seen
}

type seen struct {
	used  uint64
	files map[string]pinned.Stat
}

// NewLedger makes an empty Ledger.
func NewLedger() *Ledger { return &Ledger{sessions: map[string]*seen{}} }

// Forget drops what a session has seen.
func (l *Ledger) Forget(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.sessions, session)
}

func (l *Ledger) note(session, path string, st pinned.Stat) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sessions[session]
	if s == nil {
		if len(l.sessions) >= maxSessions {
			l.dropOldest()
		}
		s = &seen{files: map[string]pinned.Stat{}}
		l.sessions[session] = s
	}
	l.clock++
	s.used = l.clock
	if len(s.files) >= maxFiles {
		clear(s.files)
	}
	s.files[path] = st
}

func (l *Ledger) dropOldest() {
	var oldest string
	first := l.clock + 1
	for name, s := range l.sessions {
		if s.used < first {
			oldest, first = name, s.used
		}
	}
	delete(l.sessions, oldest)
}

// changed says whether the session has seen another state of the file.
func (l *Ledger) changed(session, path string, now pinned.Stat) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sessions[session]
	if s == nil {
		return false
	}
	before, ok := s.files[path]
	before.Mode = now.Mode // a chmod changes no content
	return ok && before != now
}
