package schema_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/profile/schema"
)

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.JSON()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("profile.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("profile.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// refusals says what the schema and what decoding have against a frontmatter.
func refusals(t *testing.T, s *jsonschema.Schema, front string) (bySchema, byDecode error) {
	t.Helper()
	var value any
	if err := yaml.Load([]byte(front), &value); err != nil {
		t.Fatalf("%s: %v", front, err)
	}
	bySchema = s.Validate(value)
	if p, ds := dialect.Decode("profiles/a.md", []byte("---\n"+front+"\n---\nPrompt.\n")); p == nil {
		byDecode = &profile.ParseError{Diagnostics: ds}
	}
	return bySchema, byDecode
}

// sample is a frontmatter with one value, and whether that is one.
type sample struct {
	front string
	good  bool
}

// samples gives good and bad values of every key of the table. around puts a
// value where its key stands.
func samples(keys []schema.Key, around func(key, value string) string) []sample {
	var out []sample
	for _, k := range keys {
		here := func(value string) string { return around(k.Name, value) }
		out = append(out, ofShape(&k.Shape, here)...)
		out = append(out, sample{here("[[a]]"), false})
	}
	return out
}

func ofShape(s *schema.Shape, here func(value string) string) []sample {
	var out []sample
	for alt := s; alt != nil; alt = alt.Or {
		add := func(good bool, values ...string) {
			for _, v := range values {
				if good || s.Or == nil {
					out = append(out, sample{here(v), good})
				}
			}
		}
		number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
		switch alt.Kind {
		case schema.Text:
			add(true, "word", "two words", "5")
			add(false, "{a: b}")
		case schema.Bool:
			add(true, "true", "false")
			add(false, "maybe", "5", "[true]")
		case schema.Number:
			add(true, number(alt.Low), number(alt.High))
			add(false, number(alt.High+1), "-1", "high", "{a: b}")
		case schema.Count:
			add(true, number(alt.Low), "1000")
			add(false, number(alt.Low-1), "1.5", "many", "[1]")
		case schema.Duration:
			add(true, "90s", "1h30m", "1.5h")
			add(false, "90", "soon", "{a: b}")
		case schema.Word:
			add(true, alt.Words...)
			add(false, "zzz", "{a: b}")
		case schema.List:
			if alt.Each != nil {
				out = append(out, ofShape(alt.Each, func(v string) string { return here("[" + v + "]") })...)
				break
			}
			add(true, "[a, b]", "a", "[]")
			add(false, "{a: b}", "[{a: b}]")
		case schema.Map:
			if alt.Keys != nil {
				out = append(out, samples(alt.Keys, func(key, v string) string { return here("{" + key + ": " + v + "}") })...)
			} else if alt.Each != nil {
				out = append(out, ofShape(alt.Each, func(v string) string { return here("{bash: " + v + "}") })...)
			}
			add(false, "word")
		}
		if alt.None {
			add(true, "none")
		}
	}
	return out
}

// TestSchemaAndDecodingAgree holds both against the table, key by key.
func TestSchemaAndDecodingAgree(t *testing.T) {
	s := compiled(t)
	keys := slices.Clone(schema.Keys())
	keys = slices.DeleteFunc(keys, func(k schema.Key) bool {
		return k.Name == "permission" || k.Name == "hooks" || k.Name == "mcp-servers" || k.Name == "openapi" || k.Name == "name" || k.Name == "extends" // below: they take more than a shape
	})
	all := samples(keys, func(key, v string) string { return key + ": " + v })
	if len(all) < 400 {
		t.Fatalf("only %d samples", len(all))
	}
	for _, c := range append(all, byHand()...) {
		if strings.HasPrefix(c.front, "tool-execution: {size") {
			c.front = strings.Replace(c.front, "{", "{strategy: batched, ", 1)
		}
		bySchema, byDecode := refusals(t, s, c.front)
		if c.good && (bySchema != nil || byDecode != nil) {
			t.Errorf("%s\nschema: %v\ndecode: %v", c.front, bySchema, byDecode)
		}
		if !c.good && (bySchema == nil || byDecode == nil) {
			t.Errorf("%s is accepted: by the schema %t, by decode %t", c.front, bySchema == nil, byDecode == nil)
		}
	}
}

func byHand() []sample {
	return []sample{
		{"name: a/b", true}, {"name: [[a]]", false}, {`name: ""`, false}, {"provider: ", false}, {"model: ", false},
		{"extends: base", true}, {"extends: [a, b/c]", true}, {"extends: {a: b}", false},
		{"permission: deny", true}, {"permission: {bash: ask, read: {a: deny}}", true},
		{"permission: [{tool: bash, subject: git *, effect: allow}]", true},
		{"permission: maybe", false}, {"permission: {bash: maybe}", false}, {"permission: {bash: {a: maybe}}", false},
		{"permission: [{tool: bash, effect: maybe}]", false}, {"permission: [bash]", false},
		{"+tools: [a]", true}, {"+tools: {a: true}", false}, {"+skills: [a]", true}, {"+fallbacks: {a: b}", false},
		{"details: {+key-tools: [a]}", true}, {"subagents: {+tools: {a: b}}", false},
		{"top_p: 0.5\nmaxTokens: 5\ntool_settings: {read: {max_line_length: 10}}", true},
		{"top_p: 5", false}, {"maxTokens: many", false}, {"toolSettings: {read: {maxLineLength: 1}}", false},
		{"habits: {goalAnchoring: {interval: 3}}", true}, {"habits: {goal_anchoring: {interval: none}}", false},
		{"hooks: {before-tool: [{command: x, match: bash, timeout: 5s}], after-loop: [{url: \"https://x.example\"}]}", true},
		{"mcp-servers: {a: {command: x, args: [b], env: {A: \"${B}\"}, dir: sub, timeout: 90s, tools: [c], without: d, resources: [x], roots: true, trust-annotations: true}}", true},
		{"mcp-servers: {a: {url: \"https://a.example/mcp\", headers: {Authorization: \"Bearer ${T}\"}}, b: false}", true}, {"mcp-servers: [a, b]", true}, {"mcp-servers: []", true},
		{"mcp-servers: {a: word}", false}, {"mcp-servers: {a: {command: x, args: {a: b}}}", false}, {"mcp-servers: {a: {command: x, timeout: soon}}", false},
		{"openapi: {a: {spec: x, auth: [{bearer-env: T}], timeout: 5s}, b: false}", true}, {"openapi: [a]", true}, {"openapi: {a: {spec: x, auth: {key-env: K, in: query, name: k}}}", true},
		{"openapi: {a: word}", false}, {"openapi: {a: {spec: x, timeout: 5}}", false}, {"openapi: {a: {spec: x, auth: word}}", false}, {"openapi: [[a]]", false},
		{"hooks: word", false}, {"hooks: {before-tool: word}", false}, {"hooks: {before-tool: [word]}", false}, {"hooks: {before-tool: [{command: x, timeout: 5}]}", false},
		{"nobody-knows: {a: [1]}", true}, {"title:\nlimits:\n  turns:\n", true},
	}
}

// TestTheExampleFits validates the frontmatters of the example workspace.
func TestTheExampleFits(t *testing.T) {
	s := compiled(t)
	for _, pattern := range []string{"profiles/*.md", "rig/profiles/*.md"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "examples", "workspace", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			front, ds := profile.Split(file, data)
			if profile.Refused(ds) {
				t.Fatal(ds)
			}
			if bySchema, byDecode := refusals(t, s, string(front.YAML)); bySchema != nil || byDecode != nil {
				t.Errorf("%s\nschema: %v\ndecode: %v", file, bySchema, byDecode)
			}
		}
	}
}

// TestEveryKeyIsKnown decodes each key of the table: none is unknown, and none
// that is acted on is only kept.
func TestEveryKeyIsKnown(t *testing.T) {
	// These are read when a profile is resolved.
	late := []string{"prompt", "vars", "fallbacks", "cache-breakpoints", "profile-id", "config-id", "hooks", "context", "subagents", "planning", "habits", "tool-timeout", "session", "sandbox", "mcp-servers", "openapi", "skills", "skills-budget"}
	for _, k := range schema.Keys() {
		value := "word"
		for s := &k.Shape; s != nil; s = s.Or {
			switch {
			case s.Kind == schema.Map:
				value = "{}"
			case s.Kind == schema.Bool:
				value = "true"
			case s.Kind == schema.Number, s.Kind == schema.Count:
				value = "1"
			case s.Kind == schema.Duration:
				value = "1s"
			case s.Kind == schema.Word:
				value = s.Words[0]
			}
			if s == &k.Shape && s.Kind != schema.Map {
				break
			}
		}
		t.Run(k.Name, func(t *testing.T) {
			p, ds := dialect.Decode("profiles/a.md", fmt.Appendf(nil, "---\n%s: %s\n---\nPrompt.\n", k.Name, value))
			if p == nil {
				t.Fatal(ds)
			}
			for _, d := range ds {
				if d.Code == profile.CodeUnknownKey {
					t.Errorf("unknown: %v", &d)
				}
			}
			for _, e := range p.Extra {
				if k.Acts && !slices.Contains(late, k.Name) {
					t.Errorf("%s is kept as %s", k.Name, e.Key)
				}
			}
		})
	}
}

func TestFind(t *testing.T) {
	for path, want := range map[string]bool{
		"limits.turns": true, "limits.turn": false, "habits.anti-stall.threshold": true, "+tools": true, "+mode": false,
		"details.+key-tools": true, "+details.key-tools": false, "mcp-servers": true, "mcp-servers.x": false, "": false, "limits.": false,
	} {
		if _, ok := schema.Find(path); ok != want {
			t.Errorf("%s: %t, want %t", path, ok, want)
		}
	}
}
