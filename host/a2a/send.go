package a2a

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	proto "github.com/a2aproject/a2a-go/a2a"
	"github.com/google/uuid"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// send takes a message in: for a task that waits or is at work, or as a new one.
func (a agent) send(ctx context.Context, p *proto.MessageSendParams) (host.Submitted, error) {
	var none host.Submitted
	m := p.Message
	if m == nil {
		return none, invalid("message is missing")
	}
	if p.Config != nil && p.Config.PushConfig != nil {
		return none, proto.ErrPushNotificationNotSupported
	}
	parts, err := partsOf(m.Parts)
	if err != nil {
		return none, err
	}
	if m.TaskID != "" {
		return a.tell(ctx, m, parts)
	}
	caller := identity.From(ctx)
	ask := host.Ask{
		Key: session.Key{Tenant: caller.Tenant, Stream: m.ContextID}, Profile: a.name, User: caller.User,
		Parts: parts, Shared: true,
	}
	if m.ContextID != "" {
		if err := a.exists(ctx, ask.Key); err != nil {
			return none, err
		}
	}
	if isID(m.ID) { // which no two messages have: it is sent again after a broken connection
		ask.Idem = "a2a " + a.name + " " + m.ID
	}
	return a.opts.Host.Submit(ctx, ask)
}

func (a agent) exists(ctx context.Context, k session.Key) error {
	unknown := invalid(fmt.Sprintf("contextId %.100q is none of this server's: leave it out to begin a new one", k.Stream))
	if !isID(k.Stream) {
		return unknown
	}
	store, err := a.opts.Host.Backend(ctx)
	if err == nil {
		_, err = store.Summary(ctx, k)
	}
	if errors.Is(err, session.ErrNoStream) {
		return unknown
	}
	return err
}

// tell gives a task a message: the answer to what it waits for, or something to
// consider while it is at work.
func (a agent) tell(ctx context.Context, m *proto.Message, parts []message.Part) (host.Submitted, error) {
	var none host.Submitted
	key, post, err := a.find(ctx, m.TaskID)
	if err != nil {
		return none, err
	}
	if m.ContextID != "" && m.ContextID != key.Stream {
		return none, invalid("the task is of another context")
	}
	task, err := a.task(ctx, key, post)
	if err != nil {
		return none, err
	}
	sub := host.Submitted{Key: key, Asked: key, Post: post}
	switch {
	case task.Status.State.Terminal():
		return none, fmt.Errorf("the task has ended: begin a new one with its contextId: %w", proto.ErrUnsupportedOperation)
	case task.Status.State != proto.TaskStateInputRequired:
		return sub, a.opts.Host.Steer(ctx, key, parts)
	}
	list, err := a.opts.Host.Approvals(ctx, key)
	if err != nil {
		return none, err
	}
	if len(list) == 0 { // another has answered
		return sub, a.opts.Host.Steer(ctx, key, parts)
	}
	answer, err := answerOf(ctx, &list[0], message.PartsText(parts))
	if err != nil {
		return none, err
	}
	if _, err := a.opts.Host.Answer(ctx, key.Tenant, list[0].ID, answer); err != nil {
		return none, err
	}
	host.Resume(ctx, a.opts.Host, a.opts.Resume, key)
	return sub, nil
}

// answerOf reads the answer to a question. What is no answer decides nothing.
func answerOf(ctx context.Context, q *view.Approval, text string) (view.Answer, error) {
	caller := identity.From(ctx)
	answer := view.Answer{By: cmp.Or(caller.User, "a2a")}
	if text = strings.TrimSpace(text); q.Question != "" {
		if text == "" {
			return answer, invalid("the question wants an answer in words")
		}
		answer.Answer, answer.Text = session.AnswerText, text
		return answer, nil
	}
	if !caller.May(identity.Approver) {
		return answer, invalid("to answer this takes the role " + identity.Approver.String())
	}
	if answer.Answer = session.Answer(strings.ToLower(text)); !slices.Contains(q.Answers, answer.Answer) {
		return answer, invalid("the answer has to be one word, " + words(q.Answers) + ": nothing has been decided")
	}
	return answer, nil
}

func words(answers []session.Answer) string {
	var all []string
	for _, a := range answers {
		all = append(all, string(a))
	}
	return strings.Join(all, ", ")
}

// taskID names a task: the session, and the number of the prompt in its log.
func taskID(k session.Key, post int64) proto.TaskID {
	return proto.TaskID(k.Stream + "." + strconv.FormatInt(post, 10))
}

// find finds the prompt of a task, which has to be this agent's and the caller's.
func (a agent) find(ctx context.Context, id proto.TaskID) (k session.Key, post int64, err error) {
	stream, number, _ := strings.Cut(string(id), ".")
	post, err = strconv.ParseInt(number, 10, 64)
	k = session.Key{Tenant: identity.From(ctx).Tenant, Stream: stream}
	if err != nil || post < 1 || !isID(stream) || taskID(k, post) != id {
		return k, 0, proto.ErrTaskNotFound
	}
	store, err := a.opts.Host.Backend(ctx)
	if err != nil {
		return k, 0, err
	}
	for e, err := range store.Read(ctx, k, post-1) {
		if err != nil {
			return k, 0, err
		}
		body, err := e.Decode()
		if err != nil {
			return k, 0, err
		}
		if p, ok := body.(*session.Prompt); ok && p.Profile == a.name {
			return k, post, nil
		}
		break
	}
	return k, 0, proto.ErrTaskNotFound
}

func isID(s string) bool { return len(s) == 36 && uuid.Validate(s) == nil }

func invalid(why string) error { return fmt.Errorf("%s: %w", why, proto.ErrInvalidParams) }

// fault makes the protocol's error of any. One of the server's own is logged.
func (a agent) fault(err error) error {
	var busy *session.Busy
	var conflict *session.Conflict
	for _, known := range []error{
		proto.ErrInvalidParams, proto.ErrInvalidRequest, proto.ErrTaskNotFound, proto.ErrTaskNotCancelable,
		proto.ErrUnsupportedOperation, proto.ErrUnsupportedContentType, proto.ErrPushNotificationNotSupported,
	} {
		if errors.Is(err, known) {
			return err
		}
	}
	if errors.As(err, &busy) || errors.As(err, &conflict) {
		return fmt.Errorf("%w: %w", err, proto.ErrInvalidRequest)
	}
	if ended := (*host.Error)(nil); errors.Is(err, context.Canceled) && errors.As(err, &ended) {
		return fmt.Errorf("%w: %w", err, proto.ErrServerError)
	}
	if code := a.opts.Host.Code(err); code != "Error" {
		return fmt.Errorf("%w (%s): %w", err, code, proto.ErrInvalidRequest)
	}
	if !errors.Is(err, context.Canceled) {
		a.opts.Host.Log.Error("a request of an agent failed", "profile", a.name, "error", err)
	}
	return proto.ErrInternalError
}

// partsOf are the parts of a message as those of a prompt.
func partsOf(all proto.ContentParts) ([]message.Part, error) {
	var parts []message.Part
	for i, p := range all {
		switch p := p.(type) {
		case proto.TextPart:
			if strings.TrimSpace(p.Text) != "" {
				parts = append(parts, message.Text{Text: p.Text})
			}
		case proto.FilePart:
			image, err := imageOf(p)
			if err != nil {
				return nil, fmt.Errorf("parts[%d]: %w", i, err)
			}
			parts = append(parts, image)
		default:
			return nil, fmt.Errorf("parts[%d] is neither a text nor an image: %w", i, proto.ErrUnsupportedContentType)
		}
	}
	if parts == nil {
		return nil, invalid("the message has no text: say what the agent is to do")
	}
	return parts, nil
}

func imageOf(p proto.FilePart) (message.Part, error) {
	f, ok := p.File.(proto.FileBytes)
	if !ok {
		return nil, fmt.Errorf("files are taken as bytes, and not fetched from an address: %w", proto.ErrUnsupportedContentType)
	}
	switch f.MimeType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
	default:
		return nil, fmt.Errorf("files have to be images (image/png, image/jpeg, image/gif, image/webp), not %.100q: %w", f.MimeType, proto.ErrUnsupportedContentType)
	}
	data, err := base64.StdEncoding.DecodeString(f.Bytes)
	if err != nil || len(data) == 0 {
		return nil, invalid("the bytes of the image are not base64")
	}
	return message.Image{MediaType: f.MimeType, Data: data}, nil
}
