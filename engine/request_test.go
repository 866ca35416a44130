package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
)

// spyModel keeps the bytes of each request.
type spyModel struct {
	model.Model
	sent []string
}

func (m *spyModel) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	body, err := m.Model.(model.Renderer).Render(r)
	if err != nil {
		panic(err)
	}
	m.sent = append(m.sent, string(body))
	return m.Model.Stream(ctx, r)
}

// TestRequestIsInTheLog rebuilds what the model was sent on each turn from the
// log alone, and compares it with what it got, byte for byte.
func TestRequestIsInTheLog(t *testing.T) {
	inner := script.New(
		script.Reply{Tools: []script.Call{{Name: "probe", Input: `{"n":1}`}}},
		script.Reply{Text: "one"}, script.Reply{Text: "two"},
	).Model("script/x")
	spy := &spyModel{Model: inner}
	b := newBench(t, spy, newProbe("probe", nil))
	b.spec.Prompt = []spec.Layer{{Name: "profile", Text: "You are a test."}}
	b.spec.Params.MaxTokens = 100
	b.post(&session.Prompt{Parts: text("first")})
	b.run(engine.Deps{})
	b.post(&session.Prompt{Parts: text("second")})
	b.run(engine.Deps{})

	st := session.NewState(key)
	var rebuilt []string
	var prefix string
	for e := range b.store.Read(t.Context(), key, 0) {
		body, err := e.Decode()
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Apply(&e); err != nil {
			t.Fatal(err)
		}
		switch x := body.(type) {
		case *session.LoopStart:
			prefix = x.Prefix
		case *session.TurnRequest:
			data, err := b.store.Blob(t.Context(), key.Tenant, prefix)
			if err != nil {
				t.Fatal(err)
			}
			bp, err := b.blueprint().WithPrefix(data)
			if err != nil {
				t.Fatal(err)
			}
			var params model.Params
			if len(x.Params) > 0 {
				if err := json.Unmarshal(x.Params, &params); err != nil {
					t.Fatal(err)
				}
			}
			body, err := inner.(model.Renderer).Render(&model.Request{Prefix: bp.Prefix, Params: params, Messages: st.Root.Messages[:x.Messages], Tail: x.Tail})
			if err != nil {
				t.Fatal(err)
			}
			rebuilt = append(rebuilt, string(body))
		}
	}
	if fmt.Sprint(rebuilt) != fmt.Sprint(spy.sent) || len(rebuilt) != 3 {
		t.Errorf("rebuilt:\n%s\nsent:\n%s", strings.Join(rebuilt, "\n"), strings.Join(spy.sent, "\n"))
	}
}
