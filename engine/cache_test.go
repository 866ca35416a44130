package engine_test

import (
	"testing"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
)

// TestCacheBreakpoints: the request says where a provider is to keep it.
func TestCacheBreakpoints(t *testing.T) {
	for _, c := range []struct {
		cache  string
		places []string
		want   string
	}{
		{"auto", nil, ""},
		{"off", []string{"system"}, `{"cache":"off"}`},
		{"manual", []string{"tools", "messages"}, `{"cache":"tools,messages"}`},
		{"manual", nil, `{"cache":"off"}`},
	} {
		b := newBench(t, script.New(script.Reply{Text: "done"}).Model("script/x"))
		b.spec.Cache, b.spec.CacheBreakpoints = c.cache, c.places
		b.post(&session.Prompt{Parts: text("Hi"), Profile: "p"})
		got := "no request"
		for _, e := range b.run(engine.Deps{}) {
			if req, ok := e.Body.(*session.TurnRequest); ok {
				got = string(req.Params)
			}
		}
		if got != c.want {
			t.Errorf("%s %v: %s, want %s", c.cache, c.places, got, c.want)
		}
	}
}
