package offline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/internal/offline"
)

func TestPieces(t *testing.T) {
	for text, want := range map[string][]string{
		"":               nil,
		"one":            {"one"},
		"one two":        {"one ", "two"},
		"  a\n\n b\tc  ": {"  ", "a\n\n ", "b\t", "c  "},
		"größer als":     {"größer ", "als"},
	} {
		if d := cmp.Diff(want, offline.Pieces(text)); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}

func TestPiecesAreTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		if got := strings.Join(offline.Pieces(text), ""); got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

func TestCallIDs(t *testing.T) {
	seen := map[string]bool{}
	for i := range 3 {
		r := &model.Request{}
		for j := range i {
			r.Messages = append(r.Messages, &message.Message{ID: fmt.Sprintf("0196f3c4-7e1a-7000-8000-%012d", j)})
		}
		for n := range 3 {
			id := offline.CallID(r, n+1)
			if seen[id] || len(id) > 40 || id != offline.CallID(r, n+1) {
				t.Errorf("%s", id)
			}
			seen[id] = true
		}
	}
}

func TestSizeCountsWhatIsSent(t *testing.T) {
	parts := []message.Part{
		message.Text{Text: "1234"}, message.Thinking{Text: "56"},
		message.ToolCall{Name: "read", Input: []byte("{}")},
		message.ToolResult{Parts: []message.Part{message.Text{Text: "789"}, message.Image{Data: make([]byte, 1<<20)}}},
	}
	if got := offline.Size(parts); got != 4+2+6+3+6000 {
		t.Error(got)
	}
	r := &model.Request{Tail: "12", Prefix: &model.Prefix{System: []string{"345"}, Tools: []*model.ToolDef{{Name: "a", Description: "b", Schema: []byte("{}")}}}}
	if got := offline.HeadSize(r); got != 2+3+4 {
		t.Error(got)
	}
	if message.Tokens(5) != 2 || message.Tokens(0) != 0 {
		t.Error("tokens are not rounded up")
	}
}
