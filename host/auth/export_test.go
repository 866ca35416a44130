package auth

import "time"

// SetClock has tokens judged by another clock.
func SetClock(a *Authenticator, now func() time.Time) { a.tokens.now = now }
