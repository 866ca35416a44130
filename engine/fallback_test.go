package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
)

// chained makes a bench whose models a/1, b/2, c/3 answer in turn.
func chained(t *testing.T, replies ...[]script.Reply) *bench {
	var models []model.Model
	for i, list := range replies {
		name := fmt.Sprintf("%c/%d", 'a'+i, i+1)
		models = append(models, script.New(list...).Model(name))
	}
	b := newBench(t, models[0])
	b.fallbacks = models[1:]
	b.spec.Retry.Max = 2
	b.spec.Model.Price = spec.Price{Input: 1e6}
	for i := range b.fallbacks {
		b.spec.Fallbacks = append(b.spec.Fallbacks, spec.Model{Price: spec.Price{Output: float64(i+1) * 1e6}})
	}
	return b
}

// steps tells what a run did to get its answer.
func steps(events []session.Event) string {
	var list []string
	for _, e := range events {
		switch b := e.Body.(type) {
		case *session.Retry:
			list = append(list, "retry:"+b.Code)
		case *session.Fallback:
			list = append(list, strings.TrimSuffix(b.From+">"+b.To+":"+b.Code, ":"))
		case *session.Usage:
			list = append(list, "usage:"+b.Model)
		case *session.LoopEnd:
			list = append(list, string(b.Reason))
		}
	}
	return strings.Join(list, " ")
}

func failing(status int, after time.Duration) script.Reply {
	return script.Reply{Error: &script.Failure{Status: status, RetryAfter: after}}
}

func TestFallback(t *testing.T) {
	busy, gone, limited := failing(529, 0), failing(500, 0), failing(429, 5*time.Minute)
	ok := script.Reply{Text: "ok"}
	const over, down, limit = "model.overloaded", "model.server", "model.rate-limit"
	for _, c := range []struct {
		name    string
		replies [][]script.Reply
		want    string
	}{
		{"overloaded, then limited, then answered", [][]script.Reply{{busy, busy, busy}, {limited}, {ok}},
			"retry:" + over + " retry:" + over + " a/1>b/2:" + over + " b/2>c/3:" + limit + " usage:c/3 done"},
		{"a bad request stays where it is", [][]script.Reply{{failing(400, 0)}, {ok}}, "error"},
		{"a wrong key stays where it is", [][]script.Reply{{failing(401, 0)}, {ok}}, "error"},
		{"the second tries again too", [][]script.Reply{{limited}, {gone, ok}}, "a/1>b/2:" + limit + " retry:" + down + " usage:b/2 done"},
		{"none is left", [][]script.Reply{{limited}, {limited}}, "a/1>b/2:" + limit + " error"},
		{"what was shown is taken back", [][]script.Reply{{{Text: "half", Error: &script.Failure{Kind: model.Cut}}, limited}, {ok}},
			"usage:a/1 retry:model.cut a/1>b/2:" + limit + " usage:b/2 done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := chained(t, c.replies...)
			b.post(&session.Prompt{Parts: text("go")})
			if got := steps(b.run(engine.Deps{})); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestFallbackRests: a model that failed is not asked again until its rest is
// over, in later loops too; the rest stands in the log.
func TestFallbackRests(t *testing.T) {
	b := chained(t, []script.Reply{failing(429, 2*time.Minute), {Text: "first again"}}, []script.Reply{{Text: "one"}, {Text: "two"}})
	b.post(&session.Prompt{Parts: text("go")})
	first := b.run(engine.Deps{})
	for _, e := range first {
		if f, ok := e.Body.(*session.Fallback); ok && f.Until.Sub(e.Time) != 2*time.Minute {
			t.Errorf("it rests for %s", f.Until.Sub(e.Time))
		}
	}
	b.post(&session.Prompt{Parts: text("again")})
	if got := steps(b.run(engine.Deps{})); got != "a/1>b/2 usage:b/2 done" {
		t.Errorf("while it rests: %s", got)
	}
	st := b.state()
	if now := time.Now(); !st.Root.Rests("a/1", now) || st.Root.Rests("a/1", now.Add(3*time.Minute)) || st.Root.Rests("b/2", now) {
		t.Errorf("resting: %+v", st.Root.Resting)
	}
}

// TestFallbackPrices: a call costs what the model costs that answered it.
func TestFallbackPrices(t *testing.T) {
	b := chained(t, []script.Reply{failing(429, time.Hour)}, []script.Reply{{Text: "12345678"}})
	b.post(&session.Prompt{Parts: text("go")})
	if e := end(t, b.run(engine.Deps{})); e.Usage.Cost != float64(e.Usage.Output) || e.Usage.Cost == 0 {
		t.Errorf("%+v", e.Usage)
	}
}

// TestRefresh: a call that is refused for its key is made once more with a key that
// is read anew, and no more than that.
func TestRefresh(t *testing.T) {
	refused, ok := failing(401, 0), script.Reply{Text: "ok"}
	const retried = "retry:model.auth"
	for _, c := range []struct {
		name    string
		replies [][]script.Reply
		keyed   bool
		want    string
		reads   int
	}{
		{"then it works", [][]script.Reply{{refused, ok}}, true, retried + " usage:a/1 done", 1},
		{"it stays refused", [][]script.Reply{{refused, refused, ok}}, true, retried + " error", 1},
		{"there is no key", [][]script.Reply{{refused, ok}}, false, "error", 1},
		{"403 is not about the key", [][]script.Reply{{failing(403, 0), ok}}, true, "error", 0},
		{"with a retry before", [][]script.Reply{{failing(500, 0), refused, ok}}, true, "retry:model.server " + retried + " usage:a/1 done", 1},
		{"another model's key", [][]script.Reply{{refused, failing(429, time.Hour)}, {refused, ok}}, true,
			retried + " a/1>b/2:model.rate-limit " + retried + " usage:b/2 done", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := chained(t, c.replies...)
			b.post(&session.Prompt{Parts: text("go")})
			reads, start := 0, time.Now()
			got := steps(b.run(engine.Deps{Refresh: func(name string, began time.Time) bool {
				reads++
				if began.Before(start) || time.Now().Before(began) {
					t.Errorf("the call of %s began at %s", name, began)
				}
				return c.keyed
			}}))
			if got != c.want || reads != c.reads {
				t.Errorf("got  %s\nwant %s\nthe key was read anew %d times, want %d", got, c.want, reads, c.reads)
			}
		})
	}
}
