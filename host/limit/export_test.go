package limit

// Holders is how many are remembered.
func Holders(l *Limiter) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.holders)
}
