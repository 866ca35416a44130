package acp

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

const (
	maxResult = 64 << 10 // bytes of a result that the client is shown
	maxSteps  = 50       // lines of what another agent does, for a task
)

// shower tells the client what goes on in a session. It is safe for concurrent use.
type shower struct {
	c *connection
	s *conversation

	mu      sync.Mutex
	writing string // the message that is being written
	said    int    // bytes of its text that were sent
	thought int    // and of its thinking
	stop    string // why the model stopped, at the last message

	used map[string]int   // how many calls have had an id
	open map[string]*shot // calls that are under way, by their ids in the log
}

// shot is a call as the client knows it. The ids of calls in the log are unique in
// their message only.
type shot struct {
	id    sdk.ToolCallId
	child string // the session that it gives work to
	text  string // what has been done in that
}

func newShower(c *connection, s *conversation) *shower {
	return &shower{c: c, s: s, used: map[string]int{}, open: map[string]*shot{}}
}

func (w *shower) tell(u sdk.SessionUpdate) { w.c.tell(w.s.id, u) }

// stopped is why the last answer of the model ended.
func (w *shower) stopped() sdk.StopReason {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch w.stop {
	case "length":
		return sdk.StopReasonMaxTokens
	case "refusal":
		return sdk.StopReasonRefusal
	}
	return sdk.StopReasonEndTurn
}

// note says something that no model has said, in a paragraph of its own.
func (w *shower) note(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tell(sdk.UpdateAgentMessageText("\n\n" + text + "\n\n"))
}

// see shows the next event, stored or live.
func (w *shower) see(e *session.Event) {
	body, err := e.Decode()
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Depth > 0 {
		w.below(e, body)
		return
	}
	switch b := body.(type) {
	case *session.Delta:
		w.text(b.Message, b.Offset, b.Text)
	case *session.Partial:
		w.text(b.Message, b.Offset, b.Text)
	case *session.Thinking:
		w.thinking(b.Message, b.Offset, b.Text)
	case *session.Reset:
		w.reset(b)
	case *session.Message:
		w.message(b)
	case *session.Switched:
		w.switched(b)
	case *session.Todo:
		w.plan(b.Steps)
	case *session.Plan:
		if len(b.Steps) > 0 {
			w.plan(b.Steps)
		}
	default:
		w.calls(body)
	}
}

// calls shows what becomes of a tool call.
func (w *shower) calls(body session.Body) {
	switch b := body.(type) {
	case *session.PermissionAsked:
		w.start(b.Call, b.Tool, b.Input)
	case *session.ToolBefore:
		w.before(b)
	case *session.ToolUpdate:
		if t := w.open[b.Call]; t != nil {
			w.progress(t, b.Text)
		}
	case *session.ToolAfter:
		w.after(b)
	}
}

// begin takes up a message if it is another one than before.
func (w *shower) begin(id string) {
	if id != w.writing {
		w.writing, w.said, w.thought = id, 0, 0
	}
}

// text sends what of a piece was not sent. What was missed before it comes with the
// stored message.
func (w *shower) text(id string, offset int, text string) {
	w.begin(id)
	if rest, ok := unsent(&w.said, offset, text); ok {
		w.tell(sdk.SessionUpdate{AgentMessageChunk: &sdk.SessionUpdateAgentMessageChunk{Content: sdk.TextBlock(rest)}})
	}
}

func (w *shower) thinking(id string, offset int, text string) {
	w.begin(id)
	if rest, ok := unsent(&w.thought, offset, text); ok {
		w.tell(sdk.UpdateAgentThoughtText(rest))
	}
}

// unsent is what of a piece comes after the bytes that were sent.
func unsent(sent *int, offset int, text string) (string, bool) {
	if offset > *sent || offset+len(text) <= *sent {
		return "", false
	}
	rest := text[*sent-offset:]
	*sent = offset + len(text)
	return rest, true
}

// reset says that what was shown of an answer does not count: the protocol cannot
// take text back.
func (w *shower) reset(b *session.Reset) {
	if b.Message == w.writing && w.said > 0 {
		w.tell(sdk.UpdateAgentMessageText("\n\n[The answer broke off; what was shown of it does not count.]\n\n"))
	}
	w.said, w.thought = 0, 0
}

// message sends what of an answer was not sent while it was written.
func (w *shower) message(b *session.Message) {
	if b.Role != message.Assistant {
		return
	}
	w.stop = b.Stop
	var thought strings.Builder
	for _, p := range b.Parts {
		if t, ok := p.(message.Thinking); ok {
			thought.WriteString(t.Text)
		}
	}
	w.thinking(b.ID, 0, thought.String())
	w.text(b.ID, 0, message.PartsText(b.Parts))
}

func (w *shower) switched(b *session.Switched) {
	w.s.mu.Lock()
	w.s.profile = b.To
	w.s.mu.Unlock()
	w.tell(sdk.SessionUpdate{CurrentModeUpdate: &sdk.SessionCurrentModeUpdate{CurrentModeId: sdk.SessionModeId(b.To)}})
}

// plan shows what is to do. What has failed or was given up is done with.
func (w *shower) plan(steps []session.Step) {
	entries := []sdk.PlanEntry{}
	for _, s := range steps {
		e := sdk.PlanEntry{Content: s.Text, Priority: sdk.PlanEntryPriorityMedium, Status: sdk.PlanEntryStatusCompleted}
		switch s.Status {
		case session.StepPending:
			e.Status = sdk.PlanEntryStatusPending
		case session.StepStarted:
			e.Status = sdk.PlanEntryStatusInProgress
		case session.StepFailed, session.StepCancelled:
			e.Content += " (" + string(s.Status) + ")"
		}
		entries = append(entries, e)
	}
	w.tell(sdk.UpdatePlan(entries...))
}

// start tells of a call that has not been told of.
func (w *shower) start(call, tool string, input []byte) *shot {
	if t := w.open[call]; t != nil {
		return t
	}
	t := &shot{id: w.name(call)}
	w.open[call] = t
	w.tell(sdk.SessionUpdate{ToolCall: &sdk.SessionUpdateToolCall{
		ToolCallId: t.id, Title: render.Call(tool, input), Kind: kindOf(tool), Status: sdk.ToolCallStatusPending,
		RawInput: rawInput(input), Locations: w.c.locations(tool, input), Content: w.c.diff(tool, input),
	}})
	return t
}

// name gives a call an id of its own.
func (w *shower) name(call string) sdk.ToolCallId {
	w.used[call]++
	if n := w.used[call]; n > 1 {
		return sdk.ToolCallId(call + "#" + strconv.Itoa(n))
	}
	return sdk.ToolCallId(call)
}

func (w *shower) before(b *session.ToolBefore) {
	t := w.start(b.Call, b.Tool, b.Input)
	t.child = b.Child
	if b.Effect != "deny" {
		w.tell(sdk.UpdateToolCall(t.id, sdk.WithUpdateStatus(sdk.ToolCallStatusInProgress)))
	}
}

// progress shows what a call has said of late.
func (w *shower) progress(t *shot, text string) {
	w.tell(sdk.UpdateToolCall(t.id, sdk.WithUpdateContent(texts(text))))
}

func (w *shower) after(b *session.ToolAfter) {
	t := w.open[b.Call]
	if t == nil {
		t = w.start(b.Call, b.Tool, nil)
	}
	delete(w.open, b.Call)
	status := sdk.ToolCallStatusCompleted
	if b.Outcome != session.OK {
		status = sdk.ToolCallStatusFailed
	}
	opts := []sdk.ToolCallUpdateOpt{sdk.WithUpdateStatus(status)}
	if changes(b.Tool) && b.Outcome == session.OK {
		w.tell(sdk.UpdateToolCall(t.id, opts...)) // the change itself is shown
		return
	}
	w.tell(sdk.UpdateToolCall(t.id, append(opts, sdk.WithUpdateContent(texts(message.PartsText(b.Parts))))...))
}

func texts(text string) []sdk.ToolCallContent {
	if text == "" {
		return nil
	}
	return []sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(cut(text, maxResult)))}
}

// below shows what another agent does, at the task that it was given.
func (w *shower) below(e *session.Event, body session.Body) {
	b, ok := body.(*session.ToolBefore)
	if !ok {
		return
	}
	for _, t := range w.open {
		if t.child != "" && session.Within(e.Session, t.child) {
			lines := append(strings.Split(t.text, "\n"), strings.Repeat("  ", e.Depth-1)+render.Call(b.Tool, b.Input))
			lines = lines[max(0, len(lines)-maxSteps):]
			t.text = strings.TrimPrefix(strings.Join(lines, "\n"), "\n")
			w.tell(sdk.UpdateToolCall(t.id, sdk.WithUpdateContent(texts(t.text))))
			return
		}
	}
}

// asked is the call that a person is asked for. That of another agent has an id of
// its own.
func (w *shower) asked(q *view.Approval) sdk.ToolCallUpdate {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := sdk.ToolCallId(q.ID)
	if t := w.open[q.Call]; t != nil && q.Child == "" {
		id = t.id
	}
	title := render.Call(q.Tool, q.Arguments)
	if q.Question != "" {
		title = cut(render.Visible(q.Question), maxOptionName)
	}
	return sdk.ToolCallUpdate{
		ToolCallId: id, Title: &title, Kind: sdk.Ptr(kindOf(q.Tool)), Status: sdk.Ptr(sdk.ToolCallStatusPending),
		RawInput: rawInput(q.Arguments), Locations: w.c.locations(q.Tool, q.Arguments), Content: slices.Clone(w.c.diff(q.Tool, q.Arguments)),
	}
}
