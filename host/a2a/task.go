package a2a

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	proto "github.com/a2aproject/a2a-go/a2a"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// task reads a task from the log. Each text of the model is an artifact: the last one
// is the answer.
func (a agent) task(ctx context.Context, k session.Key, post int64) (*proto.Task, error) {
	store, err := a.opts.Host.Backend(ctx)
	if err != nil {
		return nil, err
	}
	t := &proto.Task{ID: taskID(k, post), ContextID: k.Stream, Status: proto.TaskStatus{State: proto.TaskStateSubmitted}}
	loop := ""
	for e, err := range store.Read(ctx, k, post-1) {
		if err != nil {
			return nil, err
		}
		if e.Depth > 0 || loop != "" && e.Loop != loop {
			continue
		}
		body, err := e.Decode()
		if err != nil {
			return nil, err
		}
		switch b := body.(type) {
		case *session.Prompt:
			if e.Seq == post {
				t.History = []*proto.Message{a.said(t, e.Seq, proto.MessageRoleUser, message.PartsText(b.Parts))}
			}
		case *session.Message:
			if b.Post == post {
				loop = e.Loop
				t.Status = status(proto.TaskStateWorking, nil, e.Time)
			}
			if text := message.PartsText(b.Parts); b.Role == message.Assistant && loop != "" && text != "" {
				t.Artifacts = append(t.Artifacts, artifact(b.ID, text))
			}
		case *session.LoopEnd:
			if loop != "" {
				t.Status = a.ended(t, b, e.Seq, e.Time)
				return t, nil
			}
		}
	}
	return t, a.open(ctx, t, k, loop != "")
}

// open finds out how a task stands whose loop has not ended.
func (a agent) open(ctx context.Context, t *proto.Task, k session.Key, begun bool) error {
	store, err := a.opts.Host.Backend(ctx)
	if err != nil {
		return err
	}
	sum, err := store.Summary(ctx, k)
	switch {
	case err != nil:
		return err
	case begun && sum.Suspended:
		t.Status, err = a.asking(ctx, t, k, sum.Updated)
		return err
	case !begun && sum.AtRest(): // a cancel came before it
		t.Status = status(proto.TaskStateCanceled, nil, sum.Updated)
	}
	return nil
}

// asking is the status of a task that waits for a person, with what it asks.
func (a agent) asking(ctx context.Context, t *proto.Task, k session.Key, at time.Time) (proto.TaskStatus, error) {
	list, err := a.opts.Host.Approvals(ctx, k)
	if err != nil || len(list) == 0 {
		return status(proto.TaskStateWorking, nil, at), err // another has just answered
	}
	q := &list[0]
	var text strings.Builder
	render.Question(&text, render.Style{}, q)
	m := a.said(t, 0, proto.MessageRoleAgent, cut(strings.TrimRight(text.String(), "\n"), maxText))
	m.ID = q.ID
	m.Parts = append(m.Parts, proto.DataPart{Data: question(q)})
	return status(proto.TaskStateInputRequired, m, at), nil
}

// question is what is asked, for programs.
func question(q *view.Approval) map[string]any {
	data := map[string]any{"id": q.ID, "tool": q.Tool}
	if q.Question != "" {
		data["question"], data["options"] = cut(q.Question, maxText), q.Options
		return data
	}
	var shown []string
	size := 0
	for _, line := range q.Shown {
		if size += len(line); size > maxText {
			break // all of it is in the text, as far as that goes
		}
		shown = append(shown, line)
	}
	data["shown"], data["answers"] = shown, q.Answers
	return data
}

// ended is the status of a task whose loop has ended.
func (a agent) ended(t *proto.Task, end *session.LoopEnd, seq int64, at time.Time) proto.TaskStatus {
	switch end.Reason {
	case session.ReasonDone:
		return status(proto.TaskStateCompleted, nil, at)
	case session.ReasonCancelled:
		return status(proto.TaskStateCanceled, nil, at)
	}
	return status(proto.TaskStateFailed, a.said(t, seq, proto.MessageRoleAgent, cut(host.WhyEnded(end), maxText)), at)
}

func status(state proto.TaskState, m *proto.Message, at time.Time) proto.TaskStatus {
	at = at.UTC()
	return proto.TaskStatus{State: state, Message: m, Timestamp: &at}
}

// said is a message of a task. Its id is that of the event.
func (a agent) said(t *proto.Task, seq int64, role proto.MessageRole, text string) *proto.Message {
	return &proto.Message{
		ID: fmt.Sprintf("%s.%d", t.ContextID, seq), Role: role, TaskID: t.ID, ContextID: t.ContextID,
		Parts: proto.ContentParts{proto.TextPart{Text: text}},
	}
}

func artifact(id, text string) *proto.Artifact {
	return &proto.Artifact{ID: proto.ArtifactID(id), Parts: proto.ContentParts{proto.TextPart{Text: text}}}
}

// keep leaves the newest n messages of the history; nil: all.
func keep(t *proto.Task, n *int) {
	if n != nil && *n < len(t.History) {
		t.History = t.History[len(t.History)-max(0, *n):]
	}
}

// maxText bounds a text in one event of a stream, in bytes: clients read lines of at
// most 64 KiB, and JSON may take six for one.
const maxText = 8 << 10

func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return text[:boundary(text, n)] + "…"
}

// boundary is the last place up to n where a text can be cut.
func boundary(text string, n int) int {
	for at := n; at > n-utf8.UTFMax; at-- {
		if utf8.RuneStart(text[at]) {
			return at
		}
	}
	return n // it is no UTF-8
}

// stream shows a task from its beginning, until it has ended or waits.
func (a agent) stream(ctx context.Context, sub host.Submitted) iter.Seq2[proto.Event, error] {
	return func(yield func(proto.Event, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		s := &shower{task: &proto.Task{ID: taskID(sub.Key, sub.Post), ContextID: sub.Key.Stream}}
		s.yield = func(e proto.Event) {
			if !s.left && !yield(e, nil) {
				s.left = true
				stop() // the client left; the run goes on
			}
		}
		s.yield(&proto.Task{ID: s.task.ID, ContextID: s.task.ContextID, Status: proto.TaskStatus{State: proto.TaskStateSubmitted}})
		_, err := host.AwaitPerson(ctx, a.opts.Host, sub, s.see)
		if s.left {
			return
		}
		var last *proto.Task
		if err == nil {
			last, err = a.task(ctx, sub.Key, sub.Post)
		}
		if err != nil {
			yield(nil, a.fault(err))
			return
		}
		yield(&proto.TaskStatusUpdateEvent{TaskID: last.ID, ContextID: last.ContextID, Status: last.Status, Final: true}, nil)
	}
}

// shower shows a task to a client.
type shower struct {
	task  *proto.Task
	yield func(proto.Event)
	left  bool

	writing string // the message that is being written
	said    int    // bytes of it that were sent
	working bool
}

func (s *shower) see(batch []session.Event) {
	for i := range batch {
		e := &batch[i]
		if e.Depth > 0 || s.left {
			continue
		}
		body, err := e.Decode()
		if err != nil {
			continue
		}
		switch b := body.(type) {
		case *session.LoopStart:
			if !s.working {
				s.working = true
				s.yield(&proto.TaskStatusUpdateEvent{TaskID: s.task.ID, ContextID: s.task.ContextID, Status: status(proto.TaskStateWorking, nil, e.Time)})
			}
		case *session.Delta:
			s.text(b.Message, b.Offset, b.Text, false)
		case *session.Partial:
			s.text(b.Message, b.Offset, b.Text, false)
		case *session.Reset:
			if b.Message == s.writing && s.said > 0 {
				s.said = 0
				s.send("", false, false)
			}
		case *session.Message:
			if text := message.PartsText(b.Parts); b.Role == message.Assistant && text != "" {
				s.text(b.ID, 0, text, true)
			}
		}
	}
}

// text sends what of a piece was not sent. What was missed before it comes with the
// stored message, which is the last of it.
func (s *shower) text(id string, offset int, text string, last bool) {
	if id != s.writing {
		s.writing, s.said = id, 0
	}
	if offset > s.said || offset+len(text) < s.said {
		return
	}
	rest := text[s.said-offset:]
	if rest == "" && !last {
		return
	}
	for {
		n := len(rest)
		if n > maxText {
			n = boundary(rest, maxText)
		}
		s.send(rest[:n], s.said > 0, last && n == len(rest))
		s.said += n
		if rest = rest[n:]; rest == "" {
			return
		}
	}
}

func (s *shower) send(text string, more, last bool) {
	s.yield(&proto.TaskArtifactUpdateEvent{
		TaskID: s.task.ID, ContextID: s.task.ContextID, Artifact: artifact(s.writing, text), Append: more, LastChunk: last,
	})
}
