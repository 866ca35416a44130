package identity

import "strings"

const maxName = 128 // bytes of a tenant's or user's name

// PlainName says whether s may be the name of a tenant or a user: letters, digits
// and, after the first of them, '.', '_', '-', '@', '+' and ':'; 128 bytes at most.
func PlainName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._-@+:", rune(c))) {
			return false
		}
	}
	return s != "" && len(s) <= maxName
}
