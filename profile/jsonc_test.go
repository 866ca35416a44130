package profile_test

import (
	"strings"
	"testing"

	"github.com/rosterrun/roster/profile"
)

func TestPlainJSON(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", `{"a": [1, 2]}`, `{"a": [1, 2]}`},
		{"a comment at the end of a line", "{ // é\n\"a\": 1}", "{     \n\"a\": 1}"},
		{"a comment in a line", `{/* é */"a": 1}`, `{       "a": 1}`},
		{"a comment of several lines", "/* a\r\n b */{}", "    \r\n     {}"},
		{"not in a text", `{"a": "// b /* c", "d\"//": 1}`, `{"a": "// b /* c", "d\"//": 1}`},
		{"a comma at the end", "{\"a\": [1, 2,], // x\n}", "{\"a\": [1, 2 ]      \n}"},
		{"a comma in a text", `["a,", ","]`, `["a,", ","]`},
		{"never closed", `{} /* x`, `{}     `},
		{"a text that never ends", "{\"a\n// b", "{\"a\n    "},
		{"ends in a text", `{"a\`, `{"a\`},
		{"a slash", `/`, `/`},
		{"half a comment", `/*/`, `   `},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := string(profile.PlainJSON([]byte(c.in)))
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if strings.Count(got, "\n") != strings.Count(c.in, "\n") {
				t.Errorf("lines moved")
			}
		})
	}
}
