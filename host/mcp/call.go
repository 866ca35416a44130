package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

const (
	maxAnswer  = 64 << 10         // bytes of an answer that a client is given
	cancelTime = 10 * time.Second // to store what a client said last
)

// input is what a tool takes.
type input struct {
	Prompt    string `json:"prompt"`
	Session   string `json:"session"`
	Overrides struct {
		Model       string      `json:"model"`
		Thinking    string      `json:"thinking"`
		Temperature json.Number `json:"temperature"`
	} `json:"overrides"`
}

// readInput reads the arguments of a call. Its errors are for the model that
// made them.
func readInput(data json.RawMessage) (*input, error) {
	in := &input{}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(in); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the arguments cannot be read: %w; they are prompt, and if need be session and overrides (model, thinking, temperature)", err)
	}
	if strings.TrimSpace(in.Prompt) == "" {
		return nil, errors.New("prompt is missing or blank: say what the agent is to do")
	}
	if in.Session != "" && !sessionID(in.Session) {
		return nil, fmt.Errorf("session %q is not the id of a session: it stands in an earlier answer, as a UUID", cut(in.Session, 100))
	}
	return in, nil
}

func sessionID(s string) bool { return len(s) == 36 && uuid.Validate(s) == nil }

// set gives the overrides as profile keys.
func (in *input) set() map[string]string {
	set := session.Settings{
		Model: in.Overrides.Model, Thinking: in.Overrides.Thinking, Temperature: in.Overrides.Temperature.String(),
	}.Map()
	if len(set) == 0 {
		return nil
	}
	return set
}

// output is the answer of a call, for programs.
type output struct {
	Session string         `json:"session"`
	Profile string         `json:"profile"`
	Answer  string         `json:"answer"`
	Reason  session.Reason `json:"reason"`
	Usage   message.Usage  `json:"usage"`
	Limit   string         `json:"limit,omitempty"`
	Denied  int            `json:"denied,omitempty"`
	Cut     int            `json:"cut,omitempty"`
	Error   *session.Error `json:"error,omitempty"`
}

// handler answers the calls of a profile's tool.
func (s *Server) handler(profile string) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		done, ok := s.work()
		if !ok {
			return failed(errClosed), nil
		}
		defer done()
		sub, asks, err := s.submit(ctx, profile, req)
		if err != nil {
			return failed(err), nil
		}
		end, err := s.follow(ctx, req, sub, asks)
		switch {
		case err == nil:
			return answer(profile, sub.Key.Stream, end), nil
		case errors.Is(context.Cause(ctx), context.Canceled): // by the client; a lost connection has another cause
			s.cancel(ctx, sub.Key)
			return nil, ctx.Err()
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case s.ctx.Err() != nil:
			err = fmt.Errorf("%w, and the run goes on without it: its session is %s", errClosed, sub.Key.Stream)
		}
		return failed(err), nil
	}
}

// submit stores the prompt of a call, and says whether the client can be asked
// what the run has to ask a person.
func (s *Server) submit(ctx context.Context, profile string, req *sdk.CallToolRequest) (sub host.Submitted, asks bool, err error) {
	in, err := readInput(req.Params.Arguments)
	if err != nil {
		return sub, false, err
	}
	key := session.Key{Tenant: s.opts.Caller.Tenant, Stream: in.Session}
	if in.Session != "" {
		if err := s.exists(ctx, key); err != nil {
			return sub, false, err
		}
	}
	idem, err := keyOf(req, profile)
	if err != nil {
		return sub, false, err
	}
	asks = mayAsk(req.Session) && s.opts.Caller.May(identity.Approver)
	sub, err = s.opts.Host.Submit(ctx, host.Ask{
		Key: key, Profile: profile, Parts: []message.Part{message.Text{Text: in.Prompt}},
		Set: in.set(), Shared: true, Headless: !asks, Idem: idem, User: s.opts.Caller.User, KeyID: s.opts.Caller.Key,
	})
	if err == nil && sub.Duplicate && (sub.Post == 1) != (in.Session == "") {
		err = &session.Conflict{Idem: idem}
	}
	if busy := (*session.Busy)(nil); errors.As(err, &busy) {
		s.resume(ctx, key)
		err = fmt.Errorf("%w: wait for its answer, or begin a new conversation by leaving session out", err)
	}
	if err == nil && sub.Duplicate {
		s.resume(ctx, sub.Key)
	}
	return sub, asks, err
}

func (s *Server) resume(ctx context.Context, k session.Key) {
	host.Resume(ctx, s.opts.Host, s.opts.Resume, k)
}

// keyOfCall is the member of _meta by which a client says that a call is one that
// it has made before: it gets the same answer, and nothing is done twice. The
// protocol has none of its own; Roster's client sends this one.
const keyOfCall = "io.github.rosterrun/idempotency-key"

const maxKey = 200 // bytes

func keyOf(req *sdk.CallToolRequest, profile string) (string, error) {
	v, there := req.Params.Meta[keyOfCall]
	if !there {
		return "", nil
	}
	key, ok := v.(string)
	if !ok || key == "" || len(key) > maxKey || strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "", fmt.Errorf("_meta %q must be printable ASCII of 1 to %d characters", keyOfCall, maxKey)
	}
	return "mcp " + profile + " " + key, nil
}

// exists says whether a session is there.
func (s *Server) exists(ctx context.Context, k session.Key) error {
	store, err := s.opts.Host.Backend(ctx)
	if err == nil {
		_, err = store.Summary(ctx, k)
	}
	if errors.Is(err, session.ErrNoStream) {
		err = fmt.Errorf("session not found: %s; leave it out to begin a new one", k.Stream)
	}
	return err
}

// follow shows the client what the run does, until it has ended.
func (s *Server) follow(ctx context.Context, req *sdk.CallToolRequest, sub host.Submitted, asks bool) (*session.LoopEnd, error) {
	ctx, stop := whichever(ctx, s.ctx)
	defer stop()
	tell := notices{ctx: ctx, client: req.Session, token: req.Params.GetProgressToken(), stream: sub.Key.Stream}
	tell.log("info", "began", "")
	a := &asker{server: s, client: req.Session, key: sub.Key}
	person := host.Asker{Ask: a.ask, Resume: func(ctx context.Context) { s.resume(ctx, sub.Key) }}
	defer person.Dismiss()
	return host.Await(ctx, s.opts.Host, sub, func(batch []session.Event) {
		for i := range batch {
			tell.see(&batch[i])
			if asks {
				person.See(ctx, &batch[i])
			}
		}
	})
}

// cancel ends a run whose client asks for that.
func (s *Server) cancel(ctx context.Context, k session.Key) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer stop()
	if err := s.opts.Host.Cancel(ctx, k, "cancelled by the MCP client"); err != nil {
		s.opts.Log.Error("a run that its MCP client has cancelled goes on", "session", k.Stream, "error", err)
	}
}

// failed is the result of a call that came to no run.
func failed(err error) *sdk.CallToolResult {
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: err.Error()}}}
}

// answer is the result of a run that has ended.
func answer(profile, id string, end *session.LoopEnd) *sdk.CallToolResult {
	out := output{
		Session: id, Profile: profile, Answer: end.Text, Reason: end.Reason,
		Usage: end.Usage, Limit: end.Limit, Denied: end.Denied, Error: end.Error,
	}
	res := &sdk.CallToolResult{IsError: end.Reason != session.ReasonDone}
	if n := maxAnswer; len(end.Text) > n {
		for n > 0 && !utf8.RuneStart(end.Text[n]) {
			n--
		}
		out.Answer, out.Cut = end.Text[:n], len(end.Text)-n
	}
	say := func(text string) { res.Content = append(res.Content, &sdk.TextContent{Text: text}) }
	if out.Answer != "" || !res.IsError {
		say(out.Answer)
	}
	if out.Cut > 0 {
		say(fmt.Sprintf("[cut: %d bytes more; all of it stands in the resource %s]", out.Cut, sessionURI(id)))
	}
	if res.IsError {
		say(host.WhyEnded(end))
	}
	data, err := json.Marshal(out)
	if err != nil {
		return failed(err)
	}
	res.StructuredContent = json.RawMessage(data)
	return res
}
