package view_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/profile"
)

// What is given to be changed is whole and holds no secret: else saving it would lose
// some of it, or showing it would tell.
func TestNewWritten(t *testing.T) {
	whole := profile.Server{
		Name: "x", URL: "https://mcp.example/mcp", Timeout: 30 * time.Second,
		Headers: []profile.Pair{{Name: "Authorization", Value: "Bearer ${TOKEN}"}},
	}
	got := view.NewWritten(&whole, "{url: https://mcp.example/mcp, headers: {Authorization: Bearer ${TOKEN}}, timeout: 30s}")
	want := &view.WrittenServer{
		URL: "https://mcp.example/mcp", Env: map[string]string{}, Timeout: "30s",
		Headers: map[string]string{"Authorization": "Bearer ${TOKEN}"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	for name, c := range map[string]struct {
		change func(*profile.Server)
		text   string
	}{
		"a secret":       {func(*profile.Server) {}, "{headers: {Authorization: •••}}"},
		"a long text":    {func(*profile.Server) {}, "{command: x… (3000 bytes more)"},
		"its tools":      {func(s *profile.Server) { s.Tools = []string{} }, "{}"},
		"without some":   {func(s *profile.Server) { s.Without = []string{"rm"} }, "{}"},
		"its resources":  {func(s *profile.Server) { s.Resources = []string{"file:///a"} }, "{}"},
		"the workspace":  {func(s *profile.Server) { s.Roots = true }, "{}"},
		"its assurances": {func(s *profile.Server) { s.TrustAnnotations = true }, "{}"},
	} {
		s := whole
		c.change(&s)
		if got := view.NewWritten(&s, c.text); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
