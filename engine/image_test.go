package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/anthropic"
	"github.com/rosterrun/roster/model/gemini"
	"github.com/rosterrun/roster/model/openaichat"
	"github.com/rosterrun/roster/model/openairesponses"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// TestImagesStand: an image of the user and one of a tool are sent in every
// protocol as they were given, also when the log has been read again.
func TestImagesStand(t *testing.T) {
	given := message.Image{MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\ngiven")}
	seen := message.Image{MediaType: "image/jpeg", Data: []byte("\xff\xd8\xffseen")}
	look := newProbe("look", func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Parts: []message.Part{message.Text{Text: "Here:"}, seen}}, nil
	})
	b := newBench(t, script.New(script.Reply{Tools: []script.Call{{Name: "look"}}}, script.Reply{Text: "A cat."}).Model("script/x"), look)
	b.post(&session.Prompt{Parts: []message.Part{message.Text{Text: "What is it?"}, given}, Profile: "p"})
	b.run(engine.Deps{})
	st := session.NewState(key) // from the bytes of the log alone
	for e := range b.store.Read(t.Context(), key, 0) {
		e.Encode()
		e.Body = nil
		if err := st.Apply(&e); err != nil {
			t.Fatal(err)
		}
	}
	for name, m := range map[string]model.Renderer{
		"anthropic": anthropic.New(anthropic.Config{Model: "m"}), "gemini": gemini.New(gemini.Config{Model: "m"}),
		"chat": openaichat.New(openaichat.Config{Model: "m"}), "responses": openairesponses.New(openairesponses.Config{Model: "m"}),
	} {
		t.Run(name, func(t *testing.T) {
			first, err := m.Render(&model.Request{Messages: b.state().Root.Messages})
			if err != nil {
				t.Fatal(err)
			}
			second, err := m.Render(&model.Request{Messages: st.Root.Messages})
			if err != nil || string(first) != string(second) {
				t.Errorf("%v: sent\n%s\nfrom the log\n%s", err, first, second)
			}
			for _, img := range []string{"iVBORw0KGgpnaXZlbg==", "/9j/c2Vlbg=="} {
				if n := strings.Count(string(first), img); n != 1 {
					t.Errorf("%s is sent %d times in %s", img, n, first)
				}
			}
		})
	}
}
