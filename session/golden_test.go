package session

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/message"
)

// write writes what the logs fold to, for a log that is new. What older ones
// fold to is never changed: they are in people's databases.
var write = flag.Bool("write", false, "write the .fold file of each log that has none")

// TestGoldenLogs reads logs that earlier versions have written: every event is
// known, says the same when it is written again, and all together fold to what
// they did then.
func TestGoldenLogs(t *testing.T) {
	logs, err := filepath.Glob("testdata/logs/*.ndjson")
	if err != nil || len(logs) < 2 {
		t.Fatalf("%q, %v", logs, err)
	}
	for _, path := range logs {
		t.Run(filepath.Base(path), func(t *testing.T) {
			events := readLog(t, path)
			k := Key{"t", events[0].Session}
			st, sum := NewState(k), Summary{Key: k}
			for i := range events {
				if err := st.Apply(&events[i]); err != nil {
					t.Fatalf("event %d: %v", events[i].Seq, err)
				}
				if err := sum.Apply(&events[i]); err != nil {
					t.Fatalf("event %d: %v", events[i].Seq, err)
				}
				if st.Root.Runnable() != sum.Runnable() {
					t.Errorf("after event %d the state and the summary do not agree: %+v", events[i].Seq, sum)
				}
			}
			compareFold(t, strings.TrimSuffix(path, ".ndjson")+".fold", describe(st, &sum))
		})
	}
}

func compareFold(t *testing.T, path, got string) {
	t.Helper()
	want, err := os.ReadFile(path)
	if os.IsNotExist(err) && *write {
		err = os.WriteFile(path, []byte(got), 0o666)
		want = []byte(got)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("it folds to something else than it did:\n%s\nwant:\n%s", got, want)
	}
}

// describe says what a log has come to.
func describe(st *State, sum *Summary) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q of %s: %d events, %d turns, %d children, %d tokens in and %d out, $%g\n",
		sum.Status(), sum.Title, sum.Profile, sum.Last, sum.Turns, sum.Children, sum.Usage.Input, sum.Usage.Output, sum.Usage.Cost)
	fmt.Fprintf(&b, "%d loops, %d in the inbox, %d held, %d asks, %d grants\n", st.Root.Loops, len(st.Root.Inbox), st.Root.Held, st.Asks, len(st.Grants))
	for _, m := range st.Root.Messages {
		fmt.Fprintf(&b, "%s: %q\n", m.Role, m.Text())
		for _, p := range m.Parts {
			switch p := p.(type) {
			case message.ToolCall:
				fmt.Fprintf(&b, "  calls %s %s\n", p.Name, p.Input)
			case message.ToolResult:
				fmt.Fprintf(&b, "  result of %s (failed: %t): %q\n", p.Name, p.Error, message.PartsText(p.Parts))
			}
		}
	}
	return b.String()
}

// readLog reads the lines that an event is shown as.
func readLog(t *testing.T, path string) []Event {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var events []Event
	for line := range strings.Lines(string(data)) {
		var in struct {
			V       uint16          `json:"v"`
			Seq     int64           `json:"seq"`
			Session string          `json:"session"`
			Loop    string          `json:"loop"`
			Turn    int             `json:"turn"`
			Agent   string          `json:"agent_id"`
			Depth   int             `json:"depth"`
			Chain   string          `json:"chainId"`
			Time    time.Time       `json:"time"`
			Type    string          `json:"type"`
			Data    json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal([]byte(line), &in); err != nil {
			t.Fatal(err)
		}
		e := Event{
			Seq: in.Seq, V: in.V, Session: in.Session, Loop: in.Loop, Turn: in.Turn, Agent: in.Agent, Depth: in.Depth,
			Chain: in.Chain, Time: in.Time, Type: in.Type, Data: in.Data,
		}
		body, err := e.Decode()
		if err != nil {
			t.Fatal(err)
		}
		if _, raw := body.(*Raw); raw {
			t.Errorf("event %d: %s is not known any more", e.Seq, e.Type)
		}
		if again := body.AppendJSON(nil); in.V == version && string(again) != string(in.Data) {
			t.Errorf("event %d %s says something else when it is written again:\n%s\n%s", e.Seq, e.Type, in.Data, again)
		}
		events = append(events, e)
	}
	return events
}
