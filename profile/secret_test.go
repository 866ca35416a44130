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
		`Authorization: Bearer abc`:           `Authorization: ••••••••••`,
		`{Authorization: Bearer abc, x: y}`:   `{Authorization: ••••••••••, x: y}`,
		`X-Api-Key: abc # mine`:               `X-Api-Key: ••• # mine`,
		`Cookie: a=b; c=d`:                    `Cookie: ••••••••`,
		`base_url = "https://me:pw@host/v1"`:  `base_url = "https://•••••@host/v1"`,
		`url: https://token@host`:             `url: https://•••••@host`,
		`url: https://${USER_INFO}@host`:      `url: https://${USER_INFO}@host`,
		`url: https://host/x?key=abc&a=b`:     `url: https://host/x?key=•••&a=b`,
		`mail: see https://host/@me`:          `mail: see https://host/@me`,
		`key-env: OPENAI_API_KEY`:             `key-env: OPENAI_API_KEY`,
	} {
		if got := profile.MaskSecrets(line); got != want || utf8.RuneCountInString(got) != utf8.RuneCountInString(line) {
			t.Errorf("%s gives %s, want %s", line, got, want)
		}
	}
}

func TestMaskExtra(t *testing.T) {
	for _, tt := range []struct{ name, key, yaml, want string }{
		{"the key itself", "api-key", " sk-1", " ••••"},
		{"in a map", "model-config", "\n  base-url: https://a:b@host\n  api: openai", "\n  base-url: https://•••@host\n  api: openai"},
		{"in the lines below", "mcp-servers", "\n  x:\n    headers:\n      Authorization: |-\n        Bearer abc\n      Accept: json", "\n  x:\n    headers:\n      Authorization: |-\n        ••••••••••\n      Accept: json"},
		{"a list below", "tokens-of", "\n  token:\n    - abc\n    - de\n  x: y", "\n  token:\n    •••••\n    ••••\n  x: y"},
		{"nothing", "color", " blue", " blue"},
	} {
		if got := profile.MaskExtra(profile.Extra{Key: tt.key, YAML: []byte(tt.yaml)}); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
