package demo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/demo"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const retryGo = `package retry

import "time"

// Do calls f until it succeeds. It waits between two calls, twice as
// long each time, and gives up after max attempts.
func Do(max int, f func() error) error {
	var err error
	for i := range max {
		if err = f(); err == nil {
			return nil
		}
		time.Sleep(time.Second << i) // the retry waits longer each time
	}
	return err
}
`

var workspace = map[string]string{
	"README.md":            "# Shop\n\nA small web shop for books, with a cart and a checkout.\n\n## Running\n\nRun make serve and open the page.\n",
	"retry/retry.go":       retryGo,
	"retry/retry_test.go":  "package retry\n\nfunc TestRetry(t *testing.T) {}\n",
	"cart/cart.go":         "package cart\n\n// Add puts a book into the cart.\nfunc Add(book string) { retry.Do(3, save) }\n",
	"profiles/reviewer.md": "---\nname: reviewer\ndescription: Reads a change and says what is wrong with it.\nmodel: builtin/demo\n---\nYou review code.\n",
	"profiles/writer.md":   "---\nname: writer\ndescription: Writes release notes.\n---\nYou write. You are not a language model.\n",
	"many.txt":             strings.Repeat("nothing here\n", 500) + "the checkout is closed on Sundays\n",
}

// agent runs the stand-in's tool calls with the real tools, as the engine does.
type agent struct {
	t      *testing.T
	tools  map[string]tool.Tool
	permit *permission.Engine
	prefix *model.Prefix
	msgs   []*message.Message
	turns  int
	calls  []string
}

func newAgent(t *testing.T, offered ...string) *agent {
	root := t.TempDir()
	for name, text := range workspace {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := tool.Builtins(tool.Env{Root: root, Exec: []string{"not-used"}})
	if err != nil {
		t.Fatal(err)
	}
	permit, err := permission.Compile(permission.Layers{Rules: permission.Builtin(), Default: permission.Allow})
	if err != nil {
		t.Fatal(err)
	}
	a := &agent{t: t, tools: map[string]tool.Tool{}, permit: permit, prefix: &model.Prefix{}}
	for _, tl := range list {
		for _, name := range offered {
			if tl.Def().Name == name {
				a.tools[name] = tl
				a.prefix.Tools = append(a.prefix.Tools, tl.Def())
			}
		}
	}
	return a
}

func (a *agent) add(role message.Role, parts ...message.Part) *message.Message {
	m := &message.Message{ID: fmt.Sprint("m", len(a.msgs)), Role: role, Parts: parts}
	a.msgs = append(a.msgs, m)
	return m
}

// turn is one model call; the streamed pieces must be the finished message.
func (a *agent) turn() *message.Message {
	var text strings.Builder
	var calls []message.ToolCall
	var done *message.Message
	for c, err := range demo.New().Stream(context.Background(), &model.Request{Prefix: a.prefix, Messages: a.msgs}) {
		if err != nil {
			a.t.Fatal(err)
		}
		text.WriteString(c.Text)
		if c.CallID != "" {
			calls = append(calls, message.ToolCall{ID: c.CallID, Name: c.CallName, Input: []byte(c.CallArgs)})
		}
		if done = c.Done; done != nil && (c.Usage == nil || c.Usage.Output == 0 || !c.Usage.Estimated) {
			a.t.Errorf("usage %+v", c.Usage)
		}
	}
	if done.Text() != text.String() || !cmp.Equal(done.Calls(), calls) {
		a.t.Errorf("streamed %q %v, finished %q %v", text.String(), calls, done.Text(), done.Calls())
	}
	return a.add(message.Assistant, done.Parts...)
}

func (a *agent) ask(prompt string) string {
	a.turns, a.calls = 0, nil
	a.add(message.User, message.Text{Text: prompt})
	for a.turns < 10 {
		a.turns++
		m := a.turn()
		if len(m.Calls()) == 0 {
			return m.Text()
		}
		if strings.Contains(m.Text(), "language model") {
			a.t.Errorf("said too early: %s", m.Text())
		}
		var results []message.Part
		for _, c := range m.Calls() {
			results = append(results, a.run(c))
		}
		a.add(message.Tool, results...)
	}
	a.t.Fatal("no answer after 10 turns")
	return ""
}

func (a *agent) run(c message.ToolCall) message.ToolResult {
	a.calls = append(a.calls, c.Name+" "+string(c.Input))
	res := message.ToolResult{Call: c.ID, Name: c.Name}
	fail := func(err error) message.ToolResult {
		res.Error, res.Parts = true, []message.Part{message.Text{Text: err.Error()}}
		return res
	}
	var in map[string]any
	if err := json.Unmarshal(c.Input, &in); err != nil {
		a.t.Fatalf("%s: %v", c.Input, err)
	}
	plan, err := a.tools[c.Name].Prepare(context.Background(), tool.Call{ID: c.ID, Input: c.Input, Permit: a.permit})
	if err != nil {
		return fail(err)
	}
	defer plan.Close()
	if d := a.permit.Decide(plan.Needs()...); d.Effect != permission.Allow {
		return fail(fmt.Errorf("denied: %s", d.Reason))
	}
	out, err := plan.Run(context.Background(), func(string) {})
	if err != nil {
		return fail(err)
	}
	res.Parts = out.Parts
	return res
}

func has(t *testing.T, answer string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(answer, w) {
			t.Errorf("the answer lacks %q:\n%s", w, answer)
		}
	}
	if n := strings.Count(answer, "not a language model"); n != 1 {
		t.Errorf("says %d times what it is not:\n%s", n, answer)
	}
}

func lacks(t *testing.T, answer string, no ...string) {
	t.Helper()
	for _, w := range no {
		if strings.Contains(answer, w) {
			t.Errorf("the answer has %q:\n%s", w, answer)
		}
	}
}

func TestAnswers(t *testing.T) {
	for name, tt := range map[string]struct {
		prompt string
		tools  string
		turns  int
		want   []string
		lacks  []string
	}{
		"what code does": {
			prompt: "What does the retry code do?", turns: 3,
			want: []string{
				"What the files say about “retry”:",
				"- retry/retry.go:5: // Do calls f until it succeeds. It waits between two calls, twice as\n- retry/retry.go:6: // long each time, and gives up",
				"- retry/retry.go:13: time.Sleep",
				"- cart/cart.go:4: func Add",
			},
			lacks: []string{"profiles", "did not get"},
		},
		"which profiles": {
			prompt: "Which profiles are here?", turns: 3,
			want: []string{
				"I find 2 files for “profile”",
				"- profiles/reviewer.md\n  profiles/reviewer.md:2: name: reviewer\n  profiles/reviewer.md:3: description: Reads a change",
				"- profiles/writer.md",
			},
			lacks: []string{"retry"},
		},
		"which files": {
			prompt: "Which files are here?", turns: 3,
			want: []string{"I find 7 files:", "- README.md\n  README.md:1: # Shop", "- retry/retry_test.go"},
		},
		"a fact far down": {
			prompt: "On which days is the checkout closed?", turns: 3,
			want:  []string{"- many.txt:501: the checkout is closed on Sundays"},
			lacks: []string{"retry"},
		},
		"no subject": {
			prompt: "What is this project about?", turns: 3,
			want: []string{"- README.md:1: # Shop", "- README.md:3: A small web shop"},
		},
		"a named file": {
			prompt: "Summarise retry/retry.go", turns: 2,
			want:  []string{"- retry/retry.go:5: // Do calls f"},
			lacks: []string{"cart"},
		},
		"a file named without its folder": {
			prompt: "Review the change in cart.go", turns: 3,
			want: []string{"- cart/cart.go:3: // Add puts a book", "read: cart.go does not exist"},
		},
		"a missing file, and words": {
			prompt: "Does missing.go use the checkout?", turns: 4,
			want: []string{"checkout", "missing.go does not exist"},
		},
		"nothing found": {
			prompt: "What about zebras?", turns: 4,
			want: []string{"I find nothing about “zebra”. What I read begins so:", "README.md:1"},
		},
		"its own words are not quoted": {
			prompt: "What is a language model?", turns: 3,
			want: []string{"“language”, “model”", "profiles/writer.md:5: You write. You are …."},
		},
		"grep alone":  {prompt: "What does the retry code do?", tools: "grep", turns: 2, want: []string{"- retry/retry.go:13: time.Sleep"}},
		"glob alone":  {prompt: "What does the retry code do?", tools: "glob", turns: 2, want: []string{"I find nothing about “retry”", "There are these files: retry/retry"}},
		"read alone":  {prompt: "What does the retry code do?", tools: "read", turns: 2, want: []string{"I find nothing about “retry”", "README.md:1: # Shop"}},
		"other tools": {prompt: "What does the retry code do?", tools: "bash write", turns: 1, want: []string{"No tool to look into files", "“retry”"}},
		"empty":       {prompt: "", turns: 1, want: []string{"There is no question"}},
		"large":       {prompt: "checkout " + strings.Repeat("x", 5<<20), turns: 3, want: []string{"many.txt:501"}},
	} {
		t.Run(name, func(t *testing.T) {
			offered := strings.Fields(tt.tools)
			if len(offered) == 0 {
				offered = []string{"read", "glob", "grep", "bash"}
			}
			a := newAgent(t, offered...)
			got := a.ask(tt.prompt)
			has(t, got, tt.want...)
			lacks(t, got, tt.lacks...)
			if a.turns != tt.turns {
				t.Errorf("%d turns, want %d: %q", a.turns, tt.turns, a.calls)
			}
		})
	}
}

func TestEachPromptOfASessionIsAnsweredAnew(t *testing.T) {
	a := newAgent(t, "read", "glob", "grep")
	has(t, a.ask("What does the retry code do?"), "retry/retry.go:13")
	got := a.ask("And which profiles are here?")
	has(t, got, "profiles/reviewer.md")
	lacks(t, got, "retry")
	ids := map[string]bool{}
	for _, m := range a.msgs {
		for _, c := range m.Calls() {
			if ids[c.ID] {
				t.Errorf("the id %s is given twice", c.ID)
			}
			ids[c.ID] = true
		}
	}
}

func TestDenials(t *testing.T) {
	a := newAgent(t, "read", "glob", "grep")
	var err error
	if a.permit, err = permission.Compile(permission.Layers{}); err != nil {
		t.Fatal(err)
	}
	got := a.ask("What does the retry code do?")
	has(t, got, "I find nothing about “retry”", "I did not get all that I asked for: glob: denied")
}

func TestWithheldToolsAreNotCalled(t *testing.T) {
	a := newAgent(t, "read", "glob", "grep")
	a.add(message.User, message.Text{Text: "What does the retry code do?"})
	r := &model.Request{Prefix: a.prefix, Messages: a.msgs, Params: model.Params{ToolChoice: "none"}}
	for c, err := range demo.New().Stream(t.Context(), r) {
		if err != nil || c.CallID != "" {
			t.Fatal(c, err)
		}
		if c.Done != nil {
			has(t, c.Done.Text(), "I find nothing")
		}
	}
}

func TestArgumentsHaveTheNamesOfTheSchema(t *testing.T) {
	for name, tt := range map[string]struct{ tool, schema, want string }{
		"other names":  {"read", `{"properties": {"file_path": {}, "max_lines": {}}, "required": ["file_path"]}`, `{"file_path":"a.txt","max_lines":400}`},
		"path alone":   {"read", `{"properties": {"path": {}}}`, `{"path":"a.txt"}`},
		"asks more":    {"read", `{"properties": {"path": {}, "reason": {}}, "required": ["path", "reason"]}`, ""},
		"unknown name": {"read", `{"properties": {"uri": {}}}`, ""},
		"no schema":    {"read", ``, ""},
		"query":        {"grep", `{"properties": {"query": {}}}`, `{"query":"(?i)word"}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := &model.Request{
				Prefix:   &model.Prefix{Tools: []*model.ToolDef{{Name: tt.tool, Schema: []byte(tt.schema)}}},
				Messages: []*message.Message{{Role: message.User, Parts: []message.Part{message.Text{Text: "a.txt"}}}},
			}
			if tt.tool == "grep" {
				r.Messages[0].Parts = []message.Part{message.Text{Text: "the word"}}
			}
			got := ""
			for c := range demo.New().Stream(t.Context(), r) {
				got += c.CallArgs
			}
			if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestCancelEndsTheStream(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range demo.New().Stream(ctx, &model.Request{}) {
		cancel()
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Error(last)
	}
}

func TestName(t *testing.T) {
	var m model.Renderer = demo.New()
	b, err := m.Render(&model.Request{Tail: "soon"})
	if err != nil || !strings.Contains(string(b), `"tail":"soon"`) || m.Renderer() != "demo/1" || demo.New().Name() != "builtin/demo" {
		t.Error(string(b), err)
	}
}

// Whatever a prompt says and tools answer, a run ends with one answer.
func FuzzRun(f *testing.F) {
	f.Add("What does the retry code do?", "a.go:12: retry\nb.go\n\n  3\tfunc Do()", false)
	f.Add("Which profiles are in ../etc/passwd or {a,[b}.go?", "[nothing]", true)
	f.Add("name: x", "x:99999999999999999999: y\n", false)
	tools := &model.Prefix{}
	for name, props := range map[string]string{"read": `{"path":{},"limit":{},"offset":{}}`, "glob": `{"pattern":{}}`, "grep": `{"pattern":{}}`} {
		tools.Tools = append(tools.Tools, &model.ToolDef{Name: name, Schema: []byte(`{"properties":` + props + `}`)})
	}
	f.Fuzz(func(t *testing.T, prompt, result string, failed bool) {
		a := &agent{t: t, prefix: tools}
		a.add(message.User, message.Text{Text: prompt})
		for range 4 {
			m := a.turn()
			if len(m.Calls()) == 0 {
				has(t, m.Text())
				return
			}
			var results []message.Part
			for _, c := range m.Calls() {
				if !json.Valid(c.Input) || strings.Contains(string(c.Input), `"../`) {
					t.Fatalf("%s", c.Input)
				}
				results = append(results, message.ToolResult{Call: c.ID, Name: c.Name, Error: failed, Parts: []message.Part{message.Text{Text: result}}})
			}
			a.add(message.Tool, results...)
		}
		t.Fatal("no answer")
	})
}
