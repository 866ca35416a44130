package host

import "testing"

// TestFromHere: only what is known to be this machine's counts as that.
func TestFromHere(t *testing.T) {
	for addr, want := range map[string]bool{
		"127.0.0.1:80": true, "127.9.9.9:1": true, "[::1]:80": true, "[::ffff:127.0.0.1]:80": true, "": true, "@": true, "/run/roster.sock": true,
		"10.0.0.1:80": false, "[2001:db8::1]:80": false, "[fe80::1%eth0]:80": false, "example:80": false, "127.0.0.1.example:80": false, "-": false, "unknown": false,
	} {
		if got := fromHere(addr); got != want {
			t.Errorf("%q: %v", addr, got)
		}
	}
}
