package roster

import (
	"context"
	"fmt"
	"slices"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// NothingSaidError: a session has no prompt that could be taken back or answered
// anew.
type NothingSaidError struct{ Session string }

func (e *NothingSaidError) Error() string {
	return fmt.Sprintf("session %s has no prompt: there is nothing to go back to; see roster sessions tree %s", e.Session, e.Session)
}

// NotPromptError: a message that is to be answered anew is not the user's.
type NotPromptError struct {
	Session, Message string
	Role             message.Role
}

func (e *NotPromptError) Error() string {
	return fmt.Sprintf("session %s: message %s has the role %s: name one of the user, which is answered anew; see roster sessions tree %s", e.Session, e.Message, e.Role, e.Session)
}

// tree is all that a session has said, on the branch that it is on and on those
// that it has left.
type tree struct {
	state   *session.State
	session *session.Session
	said    map[string]*saying
	order   []*saying
	refs    []string // the blobs that its messages may name
}

// saying is a message of a tree, and the profile that the session had with it.
type saying struct {
	*message.Message
	profile string
}

// tree reads the tree of a session.
func (a *App) tree(ctx context.Context, k session.Key, id string) (*tree, error) {
	t := &tree{state: session.NewState(k), said: map[string]*saying{}}
	t.state.KeepChildren = true
	for e, err := range a.backend.Read(ctx, k, 0) {
		if err == nil {
			err = t.state.Apply(&e)
		}
		if err != nil {
			return nil, err
		}
		if e.Type != "loop.start" && e.Type != "profile.switched" {
			t.refs = append(t.refs, e.Refs...)
		}
		if in := t.state.Session(id); in != nil && (e.Type == "message" && e.Session == id || e.Type == "branch") {
			t.take(in)
		} else if in != nil && e.Type == "revert" && e.Session == id {
			t.move(in)
		}
	}
	slices.Sort(t.refs)
	t.refs = slices.Compact(t.refs)
	if t.session = t.state.Session(id); t.session == nil {
		return nil, fmt.Errorf("session %q: %w", id, session.ErrNoStream)
	}
	return t, nil
}

// take notes the messages at the end of the branch that are not there yet.
func (t *tree) take(in *session.Session) {
	first := len(in.Messages)
	for first > 0 && t.said[in.Messages[first-1].ID] == nil {
		first--
	}
	for _, m := range in.Messages[first:] {
		s := &saying{m, in.Profile}
		t.said[m.ID] = s
		t.order = append(t.order, s)
	}
}

// move notes that the message at the end of the branch follows another one now.
func (t *tree) move(in *session.Session) {
	if n := len(in.Messages); n > 0 && t.said[in.Messages[n-1].ID] != nil {
		t.said[in.Messages[n-1].ID].Message = in.Messages[n-1]
	}
}

// path is the conversation up to a message.
func (t *tree) path(to string) (list []*message.Message) {
	for s := t.said[to]; s != nil && len(list) < len(t.order); s = t.said[s.Parent] {
		list = append(list, s.Message)
	}
	slices.Reverse(list)
	return list
}

// prompt finds the user's message with that id; with none, the last one on the
// branch.
func (t *tree) prompt(id string) (*saying, error) {
	if id == "" {
		for _, m := range slices.Backward(t.session.Messages) {
			if s := t.said[m.ID]; s != nil && m.Role == message.User {
				return s, nil
			}
		}
		return nil, &NothingSaidError{t.session.ID}
	}
	s := t.said[id]
	if s == nil {
		return nil, &NoMessageError{t.session.ID, id}
	}
	if s.Role != message.User {
		return nil, &NotPromptError{t.session.ID, id, s.Role}
	}
	return s, nil
}

// back is the event that has the session go on from the end of a conversation,
// as a profile. What of it is not on the branch any more is copied.
func (t *tree) back(why, profile string, to []*message.Message) *session.Branch {
	list := session.BranchMessages(to)
	now, n := t.session.Messages, 0
	for n < len(list) && n < len(now) && now[n].ID == list[n].ID {
		n++
	}
	b := &session.Branch{Seq: t.state.Last, Why: why, Profile: profile, Cut: true, Messages: list[n:]}
	if n > 0 {
		b.At = list[n-1].ID
	}
	return b
}

// Rerun has a prompt of a session answered anew: the user's message at, or with
// an empty at the last one. What was said from there on stays in the log. The
// answer is that of the profile which the session had then, or of ask's; ask is
// as in Submit, without a session and without parts.
func (a *App) Rerun(ctx context.Context, k session.Key, at string, ask Ask) (Submitted, error) {
	if _, err := a.Backend(ctx); err != nil {
		return Submitted{}, err
	}
	k = a.withTenant(k)
	t, err := a.resting(ctx, k)
	if err != nil {
		return Submitted{}, err
	}
	p, err := t.prompt(at)
	if err != nil {
		return Submitted{}, err
	}
	b := t.back(session.BranchRerun, p.profile, t.path(p.Parent))
	b.Settings = t.session.Settings
	ask.Key, ask.Parts, ask.OnBusy = k, p.Parts, ""
	if ask.Profile == "" {
		ask.Profile = p.profile
	}
	return a.submit(ctx, ask, b)
}

// Revert has a session go on from an earlier message, or from one of a branch
// that it has left; with an empty to from before its last prompt. What was said
// stays in the log. It returns the message that is the last one now; empty: the
// session begins anew.
func (a *App) Revert(ctx context.Context, k session.Key, to string) (string, error) {
	d, err := a.dispatcher(ctx)
	if err != nil {
		return "", err
	}
	k = a.withTenant(k)
	t, err := a.resting(ctx, k)
	if err != nil {
		return "", err
	}
	var b *session.Branch
	if to == "" {
		p, err := t.prompt("")
		if err != nil {
			return "", err
		}
		b = t.back(session.BranchBack, p.profile, t.path(p.Parent))
	} else {
		s := t.said[to]
		if s == nil {
			return "", &NoMessageError{k.Stream, to}
		}
		b = t.back(session.BranchBack, s.profile, t.path(to))
	}
	last := b.At
	if n := len(b.Messages); n > 0 {
		last = b.Messages[n-1].ID
	}
	return last, a.postBranch(ctx, d, k, b)
}

// resting reads the tree of a session that has nothing left to do.
func (a *App) resting(ctx context.Context, k session.Key) (*tree, error) {
	sum, err := a.backend.Summary(ctx, k)
	if err != nil {
		return nil, err
	}
	if !sum.AtRest() {
		return nil, &session.Busy{Key: k}
	}
	return a.tree(ctx, k, k.Stream)
}

// Tree gives all messages of a session in the order in which they were said,
// also those that its next request does not send.
func (a *App) Tree(ctx context.Context, k session.Key, id string) ([]view.TreeMessage, error) {
	if _, err := a.Backend(ctx); err != nil {
		return nil, err
	}
	t, err := a.tree(ctx, a.withTenant(k), id)
	if err != nil {
		return nil, err
	}
	sent := map[string]bool{}
	for _, m := range t.session.Messages {
		sent[m.ID] = true
	}
	out := make([]view.TreeMessage, len(t.order))
	for i, s := range t.order {
		out[i] = view.TreeMessage{Message: view.NewMessage(s.Message), Profile: s.profile, Sent: sent[s.ID]}
	}
	return out, nil
}
