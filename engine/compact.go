package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
)

// Shares of what a request may have.
const (
	enough     = 0.8  // results are cut, and no more is done, if it is down to this
	aim        = 0.7  // what a summary brings it down to, where it can
	retryAfter = 0.05 // of the window is new before a summary is tried for again
)

// compacts says whether the conversation is ever made smaller.
func (r *run) compacts() bool {
	switch r.Spec.Context.Strategy {
	case spec.ContextSummary, spec.ContextPrune:
		return true
	}
	return false
}

// fit makes the conversation smaller if the next request would be too long. done
// says that something has changed.
func (r *run) fit() (done, ended bool, err error) {
	if !r.compacts() {
		return false, false, nil
	}
	b := r.budget()
	now, _ := r.load()
	if now <= b.limit || now <= b.room && r.s.Uncompacted > 0 && now < r.s.Uncompacted+int64(retryAfter*float64(b.window)) {
		return false, false, nil
	}
	return r.compact(session.CompactFull, b)
}

// fitLess does so when the model has refused a request for its length, once a
// turn.
func (r *run) fitLess(failed error) (done, ended bool, err error) {
	l := r.s.Loop
	if e := model.AsError(failed); e == nil || e.Kind != model.Overflow || !r.compacts() || l.Overflow == l.Turn {
		return false, false, nil
	}
	b := r.budget()
	now, _ := r.load()
	b.limit = min(b.limit, now*3/4) // whatever the window is said to be
	b.room = min(b.room, b.limit)
	return r.compact(session.CompactOverflow, b)
}

// compaction is one that is being made.
type compaction struct {
	*run
	why    string
	limit  int64
	room   int64
	now    int64
	factor float64
	starts []int // where turns begin; what is after the last one may not be complete
	first  int   // the messages before it stay
	recent int   // the messages from it on stay
}

// compact makes the conversation smaller: results of old calls are cut; if that
// is not enough, a summary or a note stands for old turns; if that is not enough
// either, the longest of the results that are left are cut.
func (r *run) compact(why string, b budget) (done, ended bool, err error) {
	c := &compaction{run: r, why: why, limit: b.limit, room: b.room}
	c.measure()
	keep := &r.Spec.Context
	if done, err = c.prune(c.starts[min(keep.KeepFirst, len(c.starts)-1)], c.recentOf(keep.KeepRecent), 0); err != nil {
		return done, false, err
	}
	if c.now <= int64(enough*float64(c.limit)) || done && c.now <= c.limit && keep.Strategy == spec.ContextPrune {
		return done, false, nil
	}
	if c.choose() {
		replaced, ended, err := c.replace()
		if done = done || replaced; ended || err != nil {
			return done, ended, err
		}
	}
	last := len(r.s.Messages) - 1
	for _, part := range [][2]int{{0, last}, {last, last + 1}} { // what the model has not seen yet comes last
		if c.now <= c.room {
			break
		}
		cut, err := c.prune(part[0], part[1], c.now-c.room)
		if done = done || cut; err != nil {
			return done, false, err
		}
	}
	return done, false, nil
}

// measure looks at the conversation as it is now.
func (c *compaction) measure() {
	c.now, c.factor = c.load()
	c.starts = append(turns(c.s.Messages), len(c.s.Messages))
}

// recentOf is where the last n complete turns begin, and what stands after them.
// The last turn is always among them.
func (c *compaction) recentOf(n int) int {
	last := len(c.starts) - 1
	if m := c.s.Messages; last > 0 && m[len(m)-1].Role == message.User {
		n++ // it is no turn yet
	}
	return c.starts[max(last-max(n, 1), 0)]
}

// turns says where each turn of a conversation begins: with the user's messages
// before it. Between two of them no call is apart from its result.
func turns(list []*message.Message) []int {
	var starts []int
	for i, m := range list {
		if i == 0 || m.Role != message.Tool && ends(list[i-1]) {
			starts = append(starts, i)
		}
	}
	return starts
}

func ends(m *message.Message) bool {
	return m.Role == message.Tool || m.Role == message.Assistant && len(m.Calls()) == 0
}

// choose picks the turns that are taken out: as many as may be, or as the room
// asks for.
func (c *compaction) choose() bool {
	keep := &c.Spec.Context
	for _, first := range []int{keep.KeepFirst, 0} {
		c.first = c.starts[min(first, len(c.starts)-1)]
		for n := max(keep.KeepRecent, 1); n > 0; n-- {
			c.recent = c.recentOf(n)
			if c.recent-c.first > 1 && c.left() <= int64(aim*float64(c.limit)) {
				return true
			}
		}
	}
	for _, first := range []int{keep.KeepFirst, 0} { // it will not do, but helps
		c.first = c.starts[min(first, len(c.starts)-1)]
		if c.recent-c.first > 1 && c.tokens(c.s.Messages[c.first:c.recent]) > c.now/10 {
			return true
		}
	}
	return false
}

// left is how many tokens a request would have without what is chosen.
func (c *compaction) left() int64 {
	return c.now - c.tokens(c.s.Messages[c.first:c.recent]) + c.summaryTokens()
}

func (c *compaction) tokens(list []*message.Message) (n int64) {
	for _, m := range list {
		n += m.Tokens()
	}
	return int64(float64(n) * c.factor)
}

// summaryTokens is how long a summary is to be at most.
func (c *compaction) summaryTokens() int64 { return min(max(c.limit/10, 200), 4000) }

// emitCompaction logs what is done, so that it holds from the next request on.
func (c *compaction) emitCompaction(b *session.Compaction, refs ...string) error {
	b.Why, b.Before = c.why, c.now
	c.emitRefs(b, slices.DeleteFunc(refs, func(ref string) bool { return ref == "" })...)
	if err := c.commit(); err != nil {
		return err
	}
	c.measure()
	return nil
}

// worth is how many tokens a result has at least that is worth cutting.
const worth = 150

// headOfCut is how many bytes of a result stay that is cut.
const headOfCut = 240

// prune cuts the results of calls in messages from to to: all that are worth it,
// if that makes a tenth of the conversation, or the longest until so many tokens
// are gone.
func (c *compaction) prune(from, to int, goal int64) (done bool, err error) {
	type result struct {
		message.ToolResult
		in   *message.Message
		size int64
	}
	var list []result
	var sum int64
	for i := from; i < to; i++ {
		m := c.s.Messages[i]
		for _, p := range m.Parts {
			t, ok := p.(message.ToolResult)
			if !ok {
				continue
			}
			if n := (&message.Message{Parts: t.Parts}).Tokens(); n >= worth {
				list, sum = append(list, result{t, m, n}), sum+n
			}
		}
	}
	if goal > 0 {
		slices.SortStableFunc(list, func(a, b result) int { return cmp.Compare(b.size, a.size) })
	} else if int64(float64(sum)*c.factor) < c.now/10 {
		return false, nil
	}
	b := &session.Compaction{Kind: session.CompactPrune}
	var refs []string
	gone := 0.0
	for i := range list {
		if goal > 0 && int64(gone) >= goal {
			break
		}
		cut, err := c.cutResult(list[i].in.ID, list[i].ToolResult)
		if err != nil {
			return false, err
		}
		b.Results, refs = append(b.Results, cut), append(refs, cut.Artifact)
		gone += float64(list[i].size-message.Tokens(len(cut.Text))) * c.factor
	}
	if len(b.Results) == 0 {
		return false, nil
	}
	b.After = max(c.now-int64(gone), 0)
	return true, c.emitCompaction(b, refs...)
}

// cutResult leaves the beginning of a result. All of it is kept as an artifact.
func (c *compaction) cutResult(id string, t message.ToolResult) (session.CutResult, error) {
	text := message.PartsText(t.Parts)
	images := 0
	for _, p := range t.Parts {
		if _, ok := p.(message.Image); ok {
			images++
		}
	}
	head := strings.ToValidUTF8(text[:min(len(text), headOfCut)], "")
	cut := session.CutResult{Message: id, Call: t.Call, Artifact: t.Artifact}
	if cut.Artifact == "" && text != "" {
		var err error
		if cut.Artifact, err = c.keep(text); err != nil {
			return cut, err
		}
	}
	cut.Text = head
	if images > 0 {
		cut.Text += fmt.Sprintf("\n[%d images are left out here to save room]", images)
	}
	if n := len(text) - len(head); n > 0 {
		cut.Text += fmt.Sprintf("\n[%d bytes are left out here to save room; %s]", n, c.whereIs(cut.Artifact))
	}
	return cut, nil
}

// keep stores a text, while others may go on.
func (c *compaction) keep(text string) (string, error) {
	defer c.apart()()
	return c.putBlob(text)
}
