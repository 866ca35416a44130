package session

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/rosterrun/roster/message"
)

func texts(t *rapid.T) string { return rapid.String().Draw(t, "text") }

func parts(t *rapid.T) []message.Part {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) message.Part {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			return message.Text{Text: texts(t), Phase: rapid.SampledFrom([]string{"", message.Commentary, message.FinalAnswer}).Draw(t, "phase")}
		case 1:
			return message.Thinking{Text: texts(t), Signature: texts(t), Redacted: texts(t)}
		case 2:
			return message.Image{MediaType: "image/png", Data: rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(t, "data")}
		case 3:
			return message.ToolCall{ID: texts(t), Name: texts(t), Input: []byte(`{"a":[1,2]}`)}
		case 4:
			return message.ToolCall{ID: texts(t), Name: texts(t), Input: []byte("{\"a\":"), Invalid: true}
		}
		return message.ToolResult{Call: texts(t), Name: texts(t), Parts: []message.Part{message.Text{Text: texts(t)}}, Error: rapid.Bool().Draw(t, "error")}
	}), 1, 3).Draw(t, "parts")
}

func usage(t *rapid.T) message.Usage {
	return message.Usage{
		Input: rapid.Int64().Draw(t, "in"), Output: rapid.Int64().Draw(t, "out"),
		CacheRead: 3, CacheWrite: 4, Cost: rapid.Float64Range(0, 1e6).Draw(t, "cost"), Estimated: rapid.Bool().Draw(t, "est"),
	}
}

// bodies makes one of each type that is stored.
func bodies(t *rapid.T) []Body {
	n := rapid.IntRange(0, 1e6).Draw(t, "n")
	rule := &Rule{Tool: "bash", Subject: texts(t), Effect: "ask", Layer: "profile", File: "a.md", Line: 3}
	return []Body{
		&Prompt{Parts: parts(t), Profile: texts(t), Overrides: Overrides{Set: map[string]string{"model": texts(t)}, Flags: map[string]string{"limits.turns": texts(t)}, AllowAll: true, Schema: json.RawMessage(`{"type":"<"}`), Client: &Client{System: texts(t), Calls: true, Tools: []ClientTool{{Name: texts(t), Description: texts(t), Schema: json.RawMessage(`{"type":"object"}`)}}, Events: []ClientEvent{{Name: texts(t), Description: texts(t)}}}}, Shared: true, User: texts(t), Agent: texts(t), Headless: true, OnDeny: "stop", Lent: []Lent{{Source: texts(t), Rules: []Rule{*rule}}}, Command: &Command{Name: texts(t), Arguments: texts(t), File: texts(t)}},
		&Steer{Parts: parts(t)},
		&Followup{Parts: parts(t)},
		&Cancel{Reason: texts(t)},
		&Set{Keys: map[string]string{"model": texts(t), "temperature": ""}},
		&Start{Profile: texts(t), Title: texts(t)},
		&Start{Profile: texts(t), Title: texts(t), Parent: texts(t), Call: texts(t)},
		&LoopStart{ClientCalls: true, Schema: json.RawMessage(`{"type":"<"}`), Number: n, Config: texts(t), Parent: texts(t), Why: "prompt", Profile: texts(t), Revision: texts(t), Model: texts(t), Spec: "s", Prefix: "p", Headless: true, OnDeny: "stop"},
		&PermissionAsked{
			Ask: texts(t), Call: texts(t), Tool: texts(t), Input: json.RawMessage(`{"x":"<"}`), Digest: "d", State: texts(t),
			Parts: []AskedPart{{Subject{"bash", texts(t), texts(t)}, "ask", rule}}, Rule: rule, Reason: texts(t), Again: texts(t),
			Needs: []Subject{{"bash", texts(t), texts(t)}}, Grantable: true,
			Expires: time.Unix(int64(n), 0).UTC(),
		},
		&PermissionResolved{Ask: texts(t), Answer: AnswerNo, ForSession: true, Message: texts(t), By: texts(t)},
		&Branch{
			From: texts(t), Seq: int64(n), Why: BranchFork, Profile: texts(t), Title: texts(t), Shared: true, Pick: texts(t), Among: []string{texts(t)}, Cut: true, At: texts(t), Settings: Settings{Model: texts(t)},
			Messages: []BranchMessage{{ID: texts(t), Role: message.Assistant, Parts: parts(t)}},
			Denials:  []Grant{{Profile: texts(t), Subject: Subject{Tool: texts(t), Subject: texts(t)}, Effect: "deny"}},
		},
		&InputAsked{Ask: texts(t), Call: texts(t), Question: texts(t), Options: []string{texts(t)}, Expires: time.Unix(int64(n), 0).UTC()},
		&InputAnswered{Ask: texts(t), Answer: AnswerText, Text: texts(t), By: texts(t)},
		&LoopWaiting{Asks: []string{texts(t)}, Until: time.Unix(int64(n), 0).UTC()},
		&LoopResumed{Attempt: n, Why: texts(t)},
		&Switched{Call: texts(t), From: texts(t), To: texts(t), Reason: texts(t), Revision: "r", Model: texts(t), Spec: "s", Prefix: "p"},
		&Imported{Digest: texts(t)},
		&Worktree{Dir: texts(t), Branch: texts(t), Base: "b", Root: texts(t), Repository: texts(t), Notes: []string{texts(t)}},
		&WorktreeEnded{Dir: texts(t), How: WorktreeMerged, Commit: "c", Into: texts(t)},
		&ToolsChanged{Added: []string{texts(t)}, Removed: []string{texts(t)}, Changed: []string{texts(t)}, Notes: []string{texts(t)}, Prefix: texts(t)},
		&Reverted{Call: texts(t), To: texts(t), Category: "lesson", Text: texts(t)},
		&Lent{Source: texts(t), Call: texts(t), Rules: []Rule{*rule}},
		&TurnStart{},
		&TurnRequest{Message: texts(t), Attempt: n, Renderer: "r/1", Messages: n, Head: texts(t), Params: json.RawMessage(`{"temperature":0.5}`), Tail: texts(t), Digest: "d", Body: "b"},
		&TurnRequest{Attempt: n, Messages: n, From: n, Head: texts(t), Tail: texts(t), For: texts(t), Model: texts(t), System: []string{texts(t)}},
		&Message{ID: texts(t), Parent: texts(t), Role: message.Assistant, Parts: parts(t), Partial: true, Stop: "stop"},
		&Message{ID: texts(t), Role: message.Tool, Calls: []string{texts(t), texts(t)}},
		&Message{ID: texts(t), Role: message.User, Source: "prompt", Post: int64(n)},
		&Message{ID: texts(t), Role: message.User, Why: WhySchema, Parts: parts(t)},
		&ToolBefore{Call: texts(t), Tool: texts(t), Input: []byte(`{"x":1}`), Recovery: "repeat", Effect: "allow", Rule: rule, Reason: texts(t)},
		&ToolBefore{Call: texts(t), Tool: texts(t), Input: []byte(`{"x":`)},
		&ToolBefore{Call: texts(t), Tool: "task", Input: []byte(`{}`), Recovery: "resume", Child: texts(t)},
		&Message{ID: texts(t), Role: message.User, Source: "prompt", Post: int64(n), Parts: parts(t)},
		&Hooked{On: "before-tool", Decision: "rewrite", By: texts(t), Reason: texts(t), Call: texts(t), Input: json.RawMessage(`{"x":"<"}`)},
		&Hooked{On: "after-tool", Decision: "deny", By: texts(t), Reason: texts(t), Failed: true, Call: texts(t), Parts: parts(t)},
		&ToolUpdate{Call: texts(t), Text: texts(t)},
		&Compaction{Kind: CompactSummary, Why: CompactFull, Message: texts(t), From: texts(t), To: texts(t), Text: texts(t), Count: n, Artifact: "d", Before: int64(n), After: 1},
		&Compaction{Kind: CompactPrune, Why: CompactOverflow, Results: []CutResult{{texts(t), texts(t), texts(t), "d"}}, Error: &Error{Code: "C", Error: texts(t)}},
		&ToolAfter{Call: texts(t), Tool: texts(t), Outcome: Denied, Parts: parts(t), Duration: time.Duration(n), Seen: &Seen{texts(t), texts(t)}},
		&FilesChanged{Call: texts(t), Root: "/r", Count: n, List: "d", Blobs: []string{"b"}, Any: true, Late: true, Beside: []string{texts(t)}, Lost: texts(t),
			Files: []FileChange{{Path: texts(t), Before: &FileState{Kind: KindFile, Mode: 0o644, Size: int64(n), Digest: "d", Blob: n, Offset: int64(n), Unkept: texts(t)}, After: &FileState{Kind: KindLink, Target: texts(t)}}}},
		&FilesUndone{Of: []int64{int64(n)}, Left: []FilePath{{Root: "/r", Path: texts(t)}}, Changed: []FilesChanged{{Call: texts(t), Root: "/r"}}, By: texts(t)},
		&Todo{Call: texts(t), Steps: []Step{{Text: texts(t), Status: StepDone, By: texts(t), Verified: texts(t), Checked: true}}},
		&Scratchpad{Call: texts(t), Text: texts(t)},
		&Plan{Phase: PlanSteps, Call: texts(t), Text: texts(t), Direct: true, Review: true, Milestones: []string{texts(t)}, Steps: []Step{{Text: texts(t), Status: StepPending}}, Cut: n, Failed: texts(t)},
		&Anchor{Habit: HabitGoal, Text: texts(t)},
		&Job{Call: texts(t), Started: n, Ended: []int{n, 2}},
		&Checked{Step: n, Accepted: true, By: "model", Reason: texts(t)},
		&Usage{Usage: usage(t), Model: texts(t)},
		&Fallback{From: texts(t), To: texts(t), Code: texts(t), Error: texts(t), Until: time.Unix(int64(n), 0).UTC()},
		&Retry{Attempt: n, Delay: time.Duration(n), Code: texts(t), Error: texts(t)},
		&Limit{Limit: "turns", Max: 3, Used: 4, Set: texts(t)},
		&Error{Code: texts(t), Error: texts(t)},
		&LoopEnd{Reason: ReasonLimit, Text: texts(t), Usage: usage(t), Limit: "turns", Denied: n, Error: &Error{Code: "x", Error: texts(t)}},
	}
}

// TestBodiesRoundTrip holds the encoding by hand against the decoding.
func TestBodiesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, b := range bodies(t) {
			e := Event{Seq: 1, Body: b}
			e.Encode()
			if !json.Valid(e.Data) || strings.ContainsAny(string(e.Data), "\n\r") {
				t.Fatalf("%s: not one line of JSON: %s", e.Type, e.Data)
			}
			got, err := (&Event{Seq: 1, V: e.V, Type: e.Type, Data: e.Data}).Decode()
			if err != nil {
				t.Fatalf("%s: %v\n%s", e.Type, err, e.Data)
			}
			if diff := cmp.Diff(b, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%s: %s\n%s", e.Type, diff, e.Data)
			}
		}
	})
}

func TestEventLine(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	for _, c := range []struct {
		name string
		ev   Event
		want string
	}{
		{"stored", Event{V: 1, Seq: 7, Session: "s", Loop: "l", Turn: 2, Agent: "a", Depth: 1, Chain: "c", Time: at, Body: &TurnStart{}},
			`{"v":1,"seq":7,"session":"s","loop":"l","turn":2,"agent_id":"a","depth":1,"chainId":"c","time":"2026-01-02T03:04:05.000006Z","type":"turn.start","data":{}}`},
		{"delta", Event{Session: "s", Time: at, Body: &Delta{Message: "m", Attempt: 1, Text: "hi\n"}},
			`{"type":"delta","session":"s","message":"m","attempt":1,"offset":0,"text":"hi\n"}`},
		{"thinking", Event{Session: "s", Depth: 1, Time: at, Body: &Thinking{Delta{Message: "m", Attempt: 1, Offset: 3, Text: "hm"}}},
			`{"type":"thinking","session":"s","depth":1,"message":"m","attempt":1,"offset":3,"text":"hm"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(c.ev.AppendJSON(nil)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestUnknownTypesSurvive(t *testing.T) {
	for _, e := range []Event{
		{Seq: 1, V: 1, Type: "moon.phase", Data: []byte(`{"full":true}`)},
		{Seq: 1, V: version + 1, Type: "message", Data: []byte(`{"new":1}`)},
	} {
		b, err := e.Decode()
		raw, ok := b.(*Raw)
		if err != nil || !ok || string(raw.AppendJSON(nil)) != string(e.Data) || raw.Type() != e.Type {
			t.Errorf("%s: %v, %v", e.Type, b, err)
		}
		if err := NewState(Key{"t", "s"}).Apply(&e); err != nil {
			t.Errorf("%s: does not fold: %v", e.Type, err)
		}
	}
}

// FuzzDecode feeds a store's bytes: whatever they are, decoding and folding end
// in an error at worst.
func FuzzDecode(f *testing.F) {
	for _, b := range []Body{&Prompt{Parts: []message.Part{message.Text{Text: "x"}}}, &Message{ID: "m", Role: message.Tool, Calls: []string{"c"}}, &LoopEnd{}, &ToolAfter{Call: "c"}} {
		f.Add(b.Type(), b.AppendJSON(nil))
	}
	f.Fuzz(func(t *testing.T, typ string, data []byte) {
		st := NewState(Key{"t", "s"})
		start := Event{Seq: 1, Loop: "l", Body: &LoopStart{Number: 1}}
		start.Encode()
		if err := st.Apply(&start); err != nil {
			t.Fatal(err)
		}
		e := Event{Seq: 2, V: 1, Type: typ, Data: data}
		if st.Apply(&e) == nil {
			var sum Summary
			if err := sum.Apply(&e); err != nil {
				t.Errorf("the state takes what the summary refuses: %v", err)
			}
		}
	})
}

// TestEventAsJSON reads back what was written.
func TestEventAsJSON(t *testing.T) {
	e := Event{Seq: 3, Session: "s", Loop: "l", Turn: 2, Agent: "a", Depth: 1, Chain: "c",
		Time: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), Body: &LoopEnd{Reason: ReasonDone, Text: "ä\u2028"}}
	data := e.AppendJSON(nil)
	var back Event
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	body, err := back.Decode()
	if end, ok := body.(*LoopEnd); err != nil || !ok || end.Text != "ä\u2028" {
		t.Errorf("%v, %v", body, err)
	}
	if again := back.AppendJSON(nil); string(again) != string(data) {
		t.Errorf("written\n%s, read and written again\n%s", data, again)
	}
	for _, bad := range []string{`{}`, `{"v":1}`, `{"type":"x","v":1}`, `[]`, `{"type":"x","data":{}}`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s is taken for an event", bad)
		}
	}
}
