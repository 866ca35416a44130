package profile_test

import (
	"testing"
	"unicode/utf8"

	"github.com/rosterrun/roster/profile"
)

func TestMaskSecrets(t *testing.T) {
	for line, want := range map[string]string{
		`api_key = "sk-1"`:                    `api_key = "••••"`,
		`  "apiKey": "sk-é1", "model": "m"`:   `  "apiKey": "•••••", "model": "m"`,
		`api-key: sk-1 # mine`:                `api-key: •••• # mine`,
		`GITHUB_TOKEN='a b'`:                  `GITHUB_TOKEN='•••'`,
		`x = { Authorization = "Bearer abc"}`: `x = { Authorization = "••••••••••"}`,
		`password = "open`:                    `password = "••••`,
		`api_key = "${KEY}"`:                  `api_key = "${KEY}"`,
		`api_key_env = "KEY"`:                 `api_key_env = "KEY"`,
		`max_tokens = 100`:                    `max_tokens = 100`,
		`api_key = ""`:                        `api_key = ""`,
		`description: tells a secret: none`:   `description: tells a secret: ••••`,
	} {
		if got := profile.MaskSecrets(line); got != want || utf8.RuneCountInString(got) != utf8.RuneCountInString(line) {
			t.Errorf("%s gives %s, want %s", line, got, want)
		}
	}
}
