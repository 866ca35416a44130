package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/sqlite"
)

// fold reads the events of a stream, folds them one by one, and holds what a
// store's summary says at the end against that.
func (c *chaos) fold(store *sqlite.Store, sum session.Summary) []session.Event {
	c.t.Helper()
	st, now := session.NewState(sum.Key), session.Summary{Key: sum.Key}
	var events []session.Event
	for e, err := range store.Read(c.t.Context(), sum.Key, 0) {
		if err == nil {
			err = st.Apply(&e)
		}
		if err == nil {
			err = now.Apply(&e)
		}
		if err != nil {
			c.t.Fatalf("session %s: event %d: %v", sum.Key, e.Seq, err)
		}
		place := int64(len(events) + 1)
		agree := now.Runnable() == st.Root.Runnable() && now.Suspended == (st.Root.Loop != nil && st.Root.Loop.Waiting)
		if e.Seq != place || st.Last != place || !agree {
			c.t.Fatalf("session %s: event %d at place %d: the summary %+v and the state agree: %t", sum.Key, e.Seq, place, now, agree)
		}
		events = append(events, e)
	}
	sum.Created, sum.Updated, sum.LastActive, sum.Until = now.Created, now.Updated, now.LastActive, now.Until // times, in another zone
	if !reflect.DeepEqual(now, sum) {
		c.t.Errorf("session %s: the store's summary is %+v, its events make %+v", sum.Key, sum, now)
	}
	return events
}

// check holds the logs of all runs, and what they have written.
func (c *chaos) check() {
	store := openStore(c.t, c.database())
	defer store.Close()
	for _, r := range c.runs {
		k := session.Key{Tenant: "local", Stream: r.id}
		sum, err := store.Summary(c.t.Context(), k)
		if err != nil {
			c.t.Errorf("%s: %v", r.name, err)
			continue
		}
		v := &verdict{chaos: c, run: r, lines: lines(c.workspace, r.name), sessions: map[string]*conversation{}}
		for _, e := range c.fold(store, sum) {
			v.see(&e)
		}
		v.end()
	}
	db, err := sql.Open("sqlite", c.database())
	if err != nil {
		c.t.Fatal(err)
	}
	defer db.Close()
	var ok string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&ok); err != nil || ok != "ok" {
		c.t.Errorf("integrity_check: %s, %v", ok, err)
	}
}

// lines counts what a run has written.
func lines(w *workspace, run string) map[string]int {
	data, err := os.ReadFile(filepath.Join(w.dir, run+".lines"))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	count := map[string]int{}
	for _, line := range strings.Fields(string(data)) {
		count[line]++
	}
	return count
}

// verdict is what is known of one run in the middle of its log.
type verdict struct {
	*chaos
	run      *chaosRun
	lines    map[string]int
	sessions map[string]*conversation
	prompts  int
	notes    []string // texts of messages, as they came
	told     []string // and as they were delivered
	answers  []string // questions that were answered
	poisoned bool
}

// maxResumes is how often a loop is taken up without progress before it is given
// up.
const maxResumes = 3

// conversation is one session of it.
type conversation struct {
	loop    string
	answers []string // the marks of the calls of each answer
	calls   map[string]*seenCall
	order   []string
	resumed int  // how often in a row without progress
	moved   bool // there was progress since
	ends    int
}

// seenCall is a tool call in the log.
type seenCall struct {
	tool, mark            string
	begun, ended, results int
	outcome               session.Outcome
	text                  string
}

func (v *verdict) fail(format string, args ...any) {
	v.t.Helper()
	v.t.Errorf("%s (%s): %s", v.run.name, v.run.id, fmt.Sprintf(format, args...))
}

func (v *verdict) see(e *session.Event) {
	s := v.sessions[e.Session]
	if s == nil {
		s = &conversation{calls: map[string]*seenCall{}}
		v.sessions[e.Session] = s
	}
	body, _ := e.Decode()
	switch b := body.(type) {
	case *session.Prompt:
		v.prompts++
	case *session.Steer:
		v.notes = append(v.notes, message.PartsText(b.Parts))
	case *session.Followup:
		v.notes = append(v.notes, message.PartsText(b.Parts))
	case *session.PermissionResolved:
		v.answers = append(v.answers, b.Ask+" "+string(b.Answer))
	case *session.InputAnswered:
		v.answers = append(v.answers, b.Ask+" "+string(b.Answer))
	case *session.LoopStart:
		if s.loop != "" {
			v.fail("event %d: a loop begins while another is open", e.Seq)
		}
		s.loop = e.Loop
	case *session.LoopResumed:
		if s.moved {
			s.resumed, s.moved = 0, false
		}
		s.resumed++
	case *session.Message:
		v.said(e, s, b)
	case *session.ToolBefore:
		v.call(s, b.Call).begun++
	case *session.ToolAfter:
		c := v.call(s, b.Call)
		c.ended, c.outcome, c.text = c.ended+1, b.Outcome, message.PartsText(b.Parts)
		v.progress(s)
	case *session.LoopEnd:
		v.ended(e, s, b)
	}
}

// progress notes that a session gets on, and with it the one that it works for.
func (v *verdict) progress(s *conversation) {
	s.moved, v.sessions[v.run.id].moved = true, true
}

func (v *verdict) said(e *session.Event, s *conversation, b *session.Message) {
	switch b.Role {
	case message.User:
		if b.Source == "steer" || b.Source == "followup" {
			v.told = append(v.told, fmt.Sprint(b.Post))
		}
	case message.Assistant:
		v.progress(s)
		var marks []string
		for _, p := range b.Parts {
			c, ok := p.(message.ToolCall)
			if !ok {
				continue
			}
			var in struct{ Command, Path, Profile, Question string }
			if err := json.Unmarshal(c.Input, &in); err != nil {
				v.fail("event %d: %v", e.Seq, err)
			}
			seen := &seenCall{tool: c.Name, mark: chaosMark(c.Name, in.Command, in.Path, in.Profile, in.Question)}
			marks = append(marks, seen.mark)
			s.calls[c.ID] = seen
			s.order = append(s.order, c.ID)
		}
		s.answers = append(s.answers, strings.Join(marks, " "))
	case message.Tool:
		for _, id := range b.Calls {
			v.call(s, id).results++
		}
	}
}

func (v *verdict) call(s *conversation, id string) *seenCall {
	c := s.calls[id]
	if c == nil {
		v.fail("nobody has asked for call %s", id)
		c = &seenCall{}
		s.calls[id] = c
	}
	return c
}

// ended holds the calls of a loop.
func (v *verdict) ended(e *session.Event, s *conversation, b *session.LoopEnd) {
	v.poisoned = v.poisoned || b.Reason == session.ReasonPoisoned
	switch {
	case e.Loop != s.loop:
		v.fail("event %d: %s ends, and %s is open", e.Seq, e.Loop, s.loop)
	case b.Reason == session.ReasonPoisoned && s.resumed >= maxResumes:
	case b.Reason == session.ReasonCancelled && v.sessions[v.run.id].resumed >= maxResumes: // with the one it works for
	case b.Reason != session.ReasonDone:
		v.fail("event %d: %s ended: %s, %+v", e.Seq, e.Session, b.Reason, b.Error)
	}
	s.loop, s.resumed, s.moved = "", 0, false
	s.ends++
	for id, c := range s.calls {
		if c.begun != 1 || c.ended != 1 || c.results != 1 && b.Reason == session.ReasonDone {
			v.fail("event %d: call %s of %s has %d beginnings, %d ends and %d results", e.Seq, id, e.Session, c.begun, c.ended, c.results)
		}
	}
}

// end holds the whole.
func (v *verdict) end() {
	if v.prompts != 1 {
		v.fail("%d prompts", v.prompts)
	}
	for id, s := range v.sessions {
		if s.loop != "" {
			v.fail("session %s: a loop is open", id)
		}
		for _, c := range s.calls {
			v.effect(c)
		}
	}
	if v.poisoned {
		v.chaos.poisoned++
	} else {
		v.planned()
	}
	for text, acknowledged := range v.run.notes {
		n := 0
		for _, got := range v.notes {
			if got == text {
				n++
			}
		}
		if n > 1 || acknowledged && n == 0 {
			v.fail("message %q is there %d times; it was acknowledged: %t", text, n, acknowledged)
		}
	}
	slices.Sort(v.told)
	if n := len(slices.Compact(v.told)); n != len(v.notes) && !v.poisoned || n != len(v.told) {
		v.fail("%d messages came in, %d were delivered, to %d places", len(v.notes), n, len(v.told))
	}
	for ask, answer := range v.run.answered {
		if !slices.Contains(v.answers, ask+" "+answer) {
			v.fail("question %s was answered %s, which was acknowledged, and the log says %q", ask, answer, v.answers)
		}
	}
}

// effect holds what a call has done against what the log says of it.
func (v *verdict) effect(c *seenCall) {
	v.outcomes[c.outcome]++
	if c.outcome == session.NotKnown && (c.tool != "bash" && !v.poisoned || !strings.Contains(c.text, "not known")) {
		v.fail("of %s %s the model was told %q", c.tool, c.mark, c.text)
	}
	if c.tool != "bash" {
		return
	}
	switch n := v.lines[c.mark]; c.outcome {
	case session.OK:
		if n != 1 {
			v.fail("%s is said to be done and was written %d times", c.mark, n)
		}
	case session.NotKnown:
		if n > 1 {
			v.fail("%s was written %d times", c.mark, n)
		}
	case session.Skipped, session.Denied:
		if n != 0 {
			v.fail("%s is said not to have run (%s) and was written %d times", c.mark, c.outcome, n)
		}
	default:
		v.fail("%s ended as %s: %s", c.mark, c.outcome, c.text)
	}
}

// planned holds the answers against the plan: none is missing, none is there
// twice.
func (v *verdict) planned() {
	plans := map[string][]chaosReply{v.run.id: v.run.root}
	for i, kid := range v.run.kids {
		plans[session.ChildID(v.run.id, i+1)] = kid
	}
	for id, plan := range plans {
		s := v.sessions[id]
		if s == nil {
			if id == v.run.id || !v.skippedTask() {
				v.fail("session %s is not there", id)
			}
			continue
		}
		for i, r := range plan {
			var marks []string
			for _, c := range r.calls {
				marks = append(marks, c.mark)
			}
			if i >= len(s.answers) || s.answers[i] != strings.Join(marks, " ") {
				v.fail("session %s: answer %d is not the planned one: %q", id, i, s.answers)
				break
			}
		}
	}
}

// skippedTask says that a message came before a child could begin.
func (v *verdict) skippedTask() bool {
	for _, c := range v.sessions[v.run.id].calls {
		if c.tool == "task" && c.outcome == session.Skipped {
			return true
		}
	}
	return false
}
