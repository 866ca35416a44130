package roster_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/internal/apitest"
)

// TestBodiesOfAnyKind sends bodies that are made of the document's schemas to each of
// its operations: right ones, almost right ones, wrong ones and noise. None is answered
// with a failure of the server, with what the document does not say, or with a path of
// the server or a trace of its stack; what does not fit the schema is refused, and what
// fits is not refused for its form. ROSTER_API_FUZZ is for how long: 5s without it.
func TestBodiesOfAnyKind(t *testing.T) {
	w := openWorld(t)
	limit := 5 * time.Second
	if text := os.Getenv("ROSTER_API_FUZZ"); text != "" {
		var err error
		if limit, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	var targets []target
	w.eachOperation(func(path, method string, o apitest.Operation) {
		// The protocols of others are tried where they are.
		theirs := o.Path == "/mcp" || strings.HasPrefix(o.Path, "/v1/") || strings.Contains(o.Path, "a2a")
		if o.Body != nil && !theirs && o.ID != "importSession" {
			targets = append(targets, target{o, w.callOf(path, method, o)})
		}
	})
	sent, fitting := 0, 0
	for end := time.Now().Add(limit); time.Now().Before(end) || sent < 5*len(targets); sent++ {
		if w.fuzz(random, targets[sent%len(targets)]) {
			fitting++
		}
		if t.Failed() {
			t.Fatalf("after %d bodies of the seed %d", sent, seed)
		}
	}
	t.Logf("%d bodies, %d of them right, to %d operations", sent, fitting, len(targets))
	if fitting == 0 || fitting == sent {
		t.Errorf("%d of %d bodies fit", fitting, sent)
	}
}

type target struct {
	o apitest.Operation
	c call
}

// fuzz sends one body, and says whether it fits the schema.
func (w *world) fuzz(random *rand.Rand, to target) bool {
	w.t.Helper()
	c := to.c
	c.body = mutated(random, to.c.body)
	fits := w.doc.Fits(to.o.Method, to.o.Path, c.body)
	began := time.Now()
	a := w.send(owner, c)
	if took := time.Since(began); took > 10*time.Second {
		w.t.Errorf("%s took %v for %.300q", to.o.ID, took, c.body)
	}
	for _, leak := range []string{w.dir, "goroutine ", ".go:", "runtime error", "panic"} {
		if strings.Contains(a.Body, leak) {
			w.t.Errorf("%s says %q for %.300q: %.500s", to.o.ID, leak, c.body, a.Body)
		}
	}
	var e struct{ Code, Field string }
	if a.Status == 400 {
		if err := json.Unmarshal([]byte(a.Body), &e); err != nil {
			w.t.Errorf("%s: %v", to.o.ID, err)
		}
	}
	switch {
	case a.Status == 500:
		w.t.Errorf("%s fails for %.300q: %s", to.o.ID, c.body, a.Body)
	case fits != nil && a.Status < 400 && !lenient(to.o, c.body):
		w.t.Errorf("%s takes %.500q: %d; the document does not: %v", to.o.ID, c.body, a.Status, fits)
	case fits == nil && a.Status == 400 && slices.Contains([]string{"MalformedBody", "InvalidField"}, e.Code) && !beyond(e.Field):
		w.t.Errorf("%s refuses %.500q for its form: %s", to.o.ID, c.body, a.Body)
	}
	return fits == nil
}

// lenient says that a body is taken which is no JSON for a reader of schemas: an empty
// one, where it may be left out, and null for a member.
func lenient(o apitest.Operation, body string) bool {
	return !o.Body.Required && body == "" || strings.Contains(body, "null")
}

// beyond are members on which more is decided than a schema says: of what kind a value
// is that overrides a key, whether an id is one of this session, how members go together (a key without a userId
// is named after its user), how a whole number is written, that a text is not empty.
func beyond(field string) bool {
	head, _, _ := strings.Cut(field, ".")
	return slices.Contains([]string{"overrides", "sessionId", "id", "message", "attachments", "command", "path", "timeout", "schema", "model", "mode", "text", "userId", "grace", "thinking"}, head)
}

// mutated changes a body in one to three places, or makes noise.
func mutated(random *rand.Rand, body string) string {
	switch random.IntN(12) {
	case 0:
		noise := []string{"", " ", "null", "[]", "1", `"x"`, "{", `{"a":`, "\xff\xfe", strings.Repeat("[", 20000), `{"message":"a","message":"b"}`, "{}{}", "\x00"}
		return noise[random.IntN(len(noise))]
	case 1:
		cut := []byte(body)
		cut[random.IntN(len(cut))] = byte(random.IntN(256))
		return string(cut)
	}
	var object map[string]any
	if json.Unmarshal([]byte(body), &object) != nil {
		return body
	}
	for range 1 + random.IntN(3) {
		name := oddNames[random.IntN(len(oddNames))]
		if random.IntN(6) == 0 {
			delete(object, name)
			continue
		}
		object[name] = oddValue(random, 3)
	}
	data, err := json.Marshal(object)
	if err != nil {
		panic(err) // it is made of what JSON has
	}
	return string(data)
}

// oddNames are names that bodies have, and some that none has.
var oddNames = []string{
	"message", "attachments", "agentId", "tenantId", "userId", "sessionId", "mode", "model", "overrides", "onBusy", "onDeny", "approvals", "schema", "command",
	"answer", "forSession", "id", "text", "reason", "dryRun", "redo", "last", "shared", "plan", "thinking", "temperature", "revision", "path",
	"args", "env", "dir", "url", "headers", "timeout", "provider", "tools", "system_prompt", "name", "description", "limits", "permission", "",
	"nothing", "__proto__", "Message", "a/b", "a~b", "../x",
}

var oddTexts = []string{
	"", " ", "x", "acme", "local", "reviewer", "fake/text", "reject", "queue", "steer", "stop", "wait", "deny", "once", "no", "text", "plan", "bypass", "low", "30s", "-1s", "999999999h",
	"../../etc/passwd", "/etc/passwd", "a\x00b", "\u202egnp", "é", "\U0001f600", "${HOME}", "{{ .Vars.x }}", "<script>", "'; DROP TABLE events; --", noStream, "profiles/x.md", "http://127.0.0.1:1/",
	"image/png", "AAAA", "*", "%2e%2e", "-", strings.Repeat("x", 129), strings.Repeat("é", 300), strings.Repeat("a/", 200),
}

func oddValue(random *rand.Rand, depth int) any {
	kinds := 8
	if depth == 0 {
		kinds = 6
	}
	switch random.IntN(kinds) {
	case 0, 1, 2:
		return oddTexts[random.IntN(len(oddTexts))]
	case 3:
		return []any{0, 1, -1, 0.5, 1e308, 9007199254740993, true, false}[random.IntN(8)]
	case 4:
		return nil
	case 5:
		return random.IntN(2) == 0
	case 6:
		list := []any{}
		for range random.IntN(3) {
			list = append(list, oddValue(random, depth-1))
		}
		return list
	}
	object := map[string]any{}
	for i := range random.IntN(4) {
		name := oddNames[random.IntN(len(oddNames))]
		if random.IntN(5) == 0 {
			name = fmt.Sprint("k", i)
		}
		object[name] = oddValue(random, depth-1)
	}
	return object
}
