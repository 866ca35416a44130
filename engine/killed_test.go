package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

// dying is a store that commits each event by itself, and takes nothing more once
// it has taken the event at.
type dying struct {
	*memory.Store
	at   int64
	dead bool
}

func (s *dying) Append(ctx context.Context, k session.Key, l session.Lease, after int64, evs []session.Event) (int64, error) {
	for i := range evs {
		if s.dead {
			return 0, errDied
		}
		last, err := s.Store.Append(ctx, k, l, after, evs[i:i+1])
		if err != nil {
			return last, err
		}
		after = last
		s.dead = last == s.at
	}
	return after, nil
}

// killedAnywhere runs what begin makes to its end, and again for each event of
// its log, from the delivered prompt on: with a worker that dies when that is durable, and one that takes over.
// What happens, and what models are sent, is the same each time.
func killedAnywhere(t *testing.T, begin func() *bench) []string {
	t.Helper()
	b := begin()
	if b.runUntil(0) {
		t.Fatal("the worker died by itself")
	}
	want := b.trace()
	for at := int64(4); at <= b.state().Last; at++ {
		k := begin()
		if !k.runUntil(at) {
			t.Fatalf("the worker did not die at event %d", at)
		}
		if k.state().Root.Loop != nil || k.state().Root.Runnable() {
			k.takeOver()
			k.runUntil(0)
		}
		k.checkLog()
		if diff := cmp.Diff(want, k.trace()); diff != "" {
			t.Errorf("killed at event %d: -whole +resumed\n%s", at, diff)
		}
	}
	return want
}

// runUntil says whether the worker died before the loop had ended.
func (b *bench) runUntil(at int64) (died bool) {
	b.t.Helper()
	store := &dying{Store: b.store, at: at}
	for _, err := range engine.Run(b.t.Context(), engine.Deps{Store: store, Blobs: b.store}, b.blueprint(), b.state(), b.lease) {
		if err != nil && !errors.Is(err, errDied) {
			b.t.Fatal(err)
		}
	}
	return store.dead
}

// takeOver claims the stream of a worker that has died.
func (b *bench) takeOver() {
	b.t.Helper()
	if err := b.store.Bury(b.t.Context(), b.lease.Worker); err != nil {
		b.t.Fatal(err)
	}
	_, l, err := b.store.Claim(b.t.Context(), b.lease.Worker+"+", &key)
	if err != nil {
		b.t.Fatal(err)
	}
	b.lease = l
}

// trace tells what stands in the log, without what differs from run to run, or
// says that something was tried again.
func (b *bench) trace() (list []string) {
	b.t.Helper()
	for e, err := range b.store.Read(b.t.Context(), key, 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		body, err := e.Decode()
		if err != nil {
			b.t.Fatal(err)
		}
		line := traced(body)
		if line == "" {
			continue
		}
		line = fmt.Sprintf("%d %s", e.Turn, line)
		again := strings.Contains(line, " request ") && slices.Contains(list, line)
		if _, noted := body.(*session.Message); !noted && len(list) > 0 && list[len(list)-1] == line {
			again = true // a call that notes something was made again
		}
		if !again {
			list = append(list, line)
		}
	}
	return list
}

func traced(body session.Body) string {
	switch b := body.(type) {
	case *session.Message:
		return fmt.Sprintf("%s: %s%s", b.Role, message.PartsText(b.Parts), callsIn(b.Parts))
	case *session.TurnRequest:
		return fmt.Sprintf("request %s of %d messages from %d, %s, system %q, params %s: %s", b.For, b.Messages, b.From, b.Model, b.System, b.Params, b.Tail)
	case *session.ToolAfter:
		return fmt.Sprintf("%s is %s: %s", b.Tool, b.Outcome, message.PartsText(b.Parts))
	case *session.Todo:
		return fmt.Sprintf("todo: %+v", b.Steps)
	case *session.Scratchpad:
		return "scratchpad: " + b.Text
	case *session.Plan:
		return fmt.Sprintf("plan %s: %q direct %t review %t milestones %q steps %+v failed %q", b.Phase, b.Text, b.Direct, b.Review, b.Milestones, b.Steps, b.Failed)
	case *session.Anchor:
		return "anchor " + b.Habit + ": " + b.Text
	case *session.Checked:
		return fmt.Sprintf("checked: %+v", *b)
	case *session.Limit:
		return "limit " + b.Limit
	case *session.LoopEnd:
		return fmt.Sprintf("end %s: %s", b.Reason, b.Text)
	}
	return ""
}

func callsIn(parts []message.Part) (text string) {
	for _, p := range parts {
		if c, ok := p.(message.ToolCall); ok {
			text += fmt.Sprintf(" [%s %s]", c.Name, c.Input)
		}
	}
	return text
}
