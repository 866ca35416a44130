package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// device is what a capability opens.
type device struct {
	desk *desk
	n    int
}

func (d *device) Close() error {
	d.desk.note("close %d", d.n)
	return errors.New("nobody looks at this")
}

// desk is a capability of two tools that share a device, and notes what becomes of
// it.
type desk struct {
	mu     sync.Mutex
	opened int
	fails  int // times that it cannot be opened
	log    []string
	scopes []engine.Scope
}

func (d *desk) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log = append(d.log, fmt.Sprintf(format, args...))
}

func (d *desk) open(_ context.Context, s engine.Scope) (io.Closer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.scopes = append(d.scopes, s)
	if d.fails > 0 {
		d.fails--
		if d.fails%2 == 1 {
			panic("it fell")
		}
		return nil, errors.New("no power")
	}
	d.opened++
	d.log = append(d.log, fmt.Sprintf("open %d", d.opened))
	return &device{d, d.opened}, nil
}

func (d *desk) capability() engine.Capability {
	use := func(ctx context.Context, c tool.Call) (tool.Result, error) {
		x, err := c.Opened(ctx)
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Text(fmt.Sprintf("device %d", x.(*device).n)), nil
	}
	return engine.Capability{
		Name: "desk", Tools: []tool.Tool{newProbe("desk_a", use), newProbe("desk_b", use)}, Open: d.open,
		Fragment: "You have a desk.",
		Context:  func(context.Context, engine.ContextMoment) (string, error) { return "The desk is tidy.", nil },
		Transform: func(_ context.Context, _ engine.ContextMoment, r *model.Request) (*model.Request, error) {
			next := *r
			next.Tail += "\n(seen by the desk)"
			return &next, nil
		},
	}
}

func deskReply(names ...string) script.Reply {
	var r script.Reply
	for _, n := range names {
		r.Tools = append(r.Tools, script.Call{Name: n})
	}
	return r
}

// TestCapabilityIsOpenedOnce: calls of one run share what is opened at the first,
// it is closed with the run, and the next run opens it anew.
func TestCapabilityIsOpenedOnce(t *testing.T) {
	d := &desk{fails: 2}
	plain := newProbe("plain", func(_ context.Context, c tool.Call) (tool.Result, error) {
		if c.Opened != nil {
			t.Error("a tool without anything to open is given something")
		}
		return tool.Text("ok"), nil
	})
	m := script.New(
		deskReply("plain", "desk_a"), deskReply("desk_b"), deskReply("desk_a", "desk_b", "desk_a"), script.Reply{Text: "One."},
		deskReply("desk_b"), script.Reply{Text: "Two."},
		deskReply("plain"), script.Reply{Text: "Three."},
	).Model("script/x")
	b := newBench(t, m, plain)
	b.capabilities = []engine.Capability{d.capability()}
	var told []string
	for range 3 {
		b.post(&session.Prompt{Parts: text("Go."), Profile: "p", Overrides: session.Overrides{}})
		for _, a := range find[*session.ToolAfter](b.run(engine.Deps{})) {
			told = append(told, message.PartsText(a.Parts))
		}
	}
	want := "ok|the capability desk failed: it fell|no power|device 1|device 1|device 1|device 2|ok"
	if got := strings.Join(told, "|"); len(told) != 8 || !sameBag(told, strings.Split(want, "|")) {
		t.Errorf("told %s\nwant %s", got, want)
	}
	if got := strings.Join(d.log, " "); got != "open 1 close 1 open 2 close 2" {
		t.Errorf("it was %s", got)
	}
	for _, s := range d.scopes {
		if s.Key != key || s.Session != "s" || s.Depth != 0 || s.Profile != "p" || s.Chain != "c" || s.Permit == nil {
			t.Errorf("opened for %+v", s)
		}
	}
}

func sameBag(a, b []string) bool {
	count := map[string]int{}
	for _, x := range a {
		count[x]++
	}
	for _, x := range b {
		count[x]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// TestCapabilityTellsTheModel: what a capability has to say goes with its tools:
// where none of them is offered, neither is the rest.
func TestCapabilityTellsTheModel(t *testing.T) {
	d := &desk{}
	for _, c := range []struct {
		name  string
		tools []string
		want  string
		all   bool
	}{
		{"all tools", nil, "plain desk_a desk_b", true},
		{"by its name", []string{"desk"}, "desk_a desk_b", false},
		{"one tool of it", []string{"desk_b"}, "desk_b", false},
		{"without it", []string{"plain"}, "plain", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, script.New(script.Reply{Text: "Done."}).Model("script/x"), newProbe("plain", nil))
			b.capabilities = []engine.Capability{d.capability()}
			b.spec.Tools, b.spec.AllTools = c.tools, c.all
			bp := b.blueprint()
			bp.Extend(nil, nil)
			if got := strings.Join(bp.ToolNames(), " "); got != c.want {
				t.Errorf("offered %s", got)
			}
			has := strings.Contains(c.want, "desk")
			if got := strings.Join(bp.Prefix.System, "|"); strings.Contains(got, "You have a desk.") != has {
				t.Errorf("the system prompt is %q", got)
			}
			b.post(&session.Prompt{Parts: text("Go."), Profile: "p"})
			var tail string
			for e, err := range engine.Run(t.Context(), engine.Deps{Store: b.store, Blobs: b.store}, bp, b.state(), b.lease) {
				if err != nil {
					t.Fatal(err)
				}
				if r, ok := e.Body.(*session.TurnRequest); ok {
					tail = r.Tail
				}
			}
			if strings.Contains(tail, "The desk is tidy.") != has || strings.Contains(tail, "(seen by the desk)") != has {
				t.Errorf("the request ends with %q", tail)
			}
		})
	}
}
