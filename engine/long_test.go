package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/store/memory"
)

// forgetful is a store that keeps blobs and no events, so that what a run keeps
// in memory can be seen.
type forgetful struct {
	*memory.Store
	last, events int64
}

func (s *forgetful) Append(_ context.Context, _ session.Key, _ session.Lease, after int64, evs []session.Event) (int64, error) {
	for i := range evs {
		evs[i].Seq = after + int64(i) + 1
	}
	s.events += int64(len(evs))
	s.last = after + int64(len(evs))
	return s.last, nil
}

func (s *forgetful) PutBlob(_ context.Context, _ string, b []byte) (string, error) {
	return session.Digest(b), nil
}

// TestTwoThousandTurns runs a session of 2,000 turns in a window of 32,000
// tokens: no request is ever longer, every one is valid (see pairs), a late turn
// costs what an early one does, and the memory does not grow.
func TestTwoThousandTurns(t *testing.T) {
	const window = 32_000
	work := worker(25)
	m := &talker{}
	m.answer = func(r *model.Request) []message.Part {
		if !strings.Contains(all(r.Messages), "remember the colour blue") {
			t.Error("the first prompt is gone")
		}
		return append([]message.Part{message.Text{Text: strings.Repeat("so it goes ", 30)}}, work(r)...)
	}
	m.summary = func(r *model.Request) (string, error) {
		return fmt.Sprintf("summary %d of %d messages", m.summaries, len(r.Messages)), nil
	}
	b := newTalk(t, window, m, bulky(2000))
	b.spec.Limits = spec.Limits{}
	bp := b.blueprint()
	store := &forgetful{Store: b.store}
	st := session.NewState(key)
	compacted := 0
	var heap [2]uint64
	for n := 0; len(m.sent) < 2000; n++ {
		p := session.Event{Seq: st.Last + 1, V: 1, Session: "s", Time: time.Now().UTC(), Type: "prompt",
			Body: &session.Prompt{Parts: text(fmt.Sprintf("prompt %d: remember the colour blue", n)), Profile: "p"}}
		if err := st.Apply(&p); err != nil {
			t.Fatal(err)
		}
		for e, err := range engine.Run(t.Context(), engine.Deps{Store: store, Blobs: store}, bp, st, session.Lease{}) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == "compaction" {
				compacted++
			}
		}
		switch len(m.sent) {
		case 250:
			heap[0] = inUse()
		case 2000:
			heap[1] = inUse()
		}
	}
	if m.refused > 0 {
		t.Errorf("%d requests were too long", m.refused)
	}
	var longest int64
	for i, s := range m.sent {
		if longest = max(longest, s.tokens); s.tokens > window {
			t.Errorf("turn %d has %d tokens", i+1, s.tokens)
		}
	}
	early, late := cost(m.sent[:220]), cost(m.sent[1780:])
	t.Logf("%d compactions, %d summaries, the longest request has %d tokens; messages sent and encoded in a turn: %v at first, %v at last; heap %d and %d KiB",
		compacted, m.summaries, longest, early, late, heap[0]>>10, heap[1]>>10)
	for i := range early {
		if late[i] > 1.2*early[i] {
			t.Errorf("a turn sends and encodes %v messages at first and %v after 1,800 turns", early, late)
		}
	}
	if heap[1] > heap[0]+heap[0]/5+256<<10 {
		t.Errorf("%d bytes are in use after 250 turns and %d after 2,000", heap[0], heap[1])
	}
	if m.summaries < 10 {
		t.Errorf("there were %d summaries", m.summaries)
	}
}

// cost is how many messages turns have sent, and had encoded anew, on average.
func cost(list []sentTo) [2]float64 {
	var c [2]float64
	for _, s := range list {
		c[0] += float64(s.messages) / float64(len(list))
		c[1] += float64(s.fresh) / float64(len(list))
	}
	return c
}

func all(list []*message.Message) string {
	var b strings.Builder
	for _, m := range list {
		b.WriteString(m.Text())
	}
	return b.String()
}

func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}
