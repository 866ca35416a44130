package model

import (
	"testing"
	"time"
)

func TestErrorText(t *testing.T) {
	for name, c := range map[string]struct {
		err  Error
		want string
	}{
		"bare":         {Error{Kind: Cut, Model: "p/m"}, "model p/m: cut"},
		"with remedy":  {Error{Kind: Auth, Model: "p/m", Status: 401, Message: "no", Remedy: "check the key"}, "model p/m: auth (HTTP 401): no (check the key)"},
		"told to wait": {Error{Kind: RateLimit, Model: "p/m", Status: 429, Message: "no", RetryAfter: time.Hour, Remedy: "wait"}, "model p/m: rate-limit (HTTP 429): no; it asks to wait 1h0m0s (wait)"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.err.Error(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
