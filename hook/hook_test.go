package hook

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

func TestParseAnswer(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		want         Decision
		says         string // of the error; empty: there is none
	}{
		{"allow", `{"decision":"allow"}`, Allow, ""},
		{"deny", `{"decision":"deny","reason":"no"}` + "\n", Deny, ""},
		{"rewrite", ` {"decision":"rewrite","input":{"a":1}}`, Rewrite, ""},
		{"ask", `{"decision":"ask"}`, Ask, ""},
		{"approve", `{"decision":"approve"}`, Approve, ""},
		{"nothing", "", Deny, "the answer is empty"},
		{"blanks", " \n", Deny, "the answer is empty"},
		{"not JSON", "allow", Deny, "no JSON object"},
		{"no object", `["allow"]`, Deny, "no JSON object"},
		{"null", `null`, Deny, `the decision is ""`},
		{"no decision", `{}`, Deny, `the decision is ""`},
		{"another word", `{"decision":"yes"}`, Deny, `the decision is "yes"`},
		{"another case", `{"decision":"Allow"}`, Deny, `the decision is "Allow"`},
		{"a key that is not known", `{"decision":"allow","inputs":{}}`, Deny, "inputs"},
		{"two objects", `{"decision":"allow"}{"decision":"deny"}`, Deny, "more than one"},
		{"text behind it", `{"decision":"allow"} ok`, Deny, "more than one"},
		{"too much", `{"decision":"allow","reason":"` + strings.Repeat("x", MaxAnswer) + `"}`, Deny, "more than 1048576 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := ParseAnswer([]byte(c.answer))
			if v.Decision != c.want || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, %v", v.Decision, err)
			}
		})
	}
}

// FuzzParseAnswer: an answer that cannot be read denies, and one that can says
// one of the words.
func FuzzParseAnswer(f *testing.F) {
	for _, s := range []string{"", "{}", `{"decision":"allow"}`, `{"decision":"rewrite","input":{"a":[1,2]},"text":"x"}`, `{"decision":"deny"}x`, "[", `{"decision":null}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := ParseAnswer(data)
		if err != nil {
			if v.Decision != Deny || v.Input != nil || v.Text != "" {
				t.Errorf("%v with %+v", err, v)
			}
			return
		}
		if !strings.Contains(string(data), v.Decision.String()) && !strings.Contains(string(data), `\u`) {
			t.Errorf("%q was read as %s", data, v.Decision)
		}
		if len(v.Input) > 0 && !json.Valid(v.Input) {
			t.Errorf("the input %q is not JSON", v.Input)
		}
		set, err := NewSet(Hook{On: BeforeTool, Ask: func(context.Context, *Moment) (Verdict, error) { return v, nil }})
		if err != nil {
			t.Fatal(err)
		}
		if a := set.Ask(t.Context(), Moment{Event: BeforeTool, Tool: "x"}); a.Decision != Deny && a.Decision != v.Decision || a.Decision == Rewrite && !isObject(a.Input) {
			t.Errorf("%+v came to %+v", v, a)
		}
	})
}

func TestNewSet(t *testing.T) {
	ok := func(context.Context, *Moment) (Verdict, error) { return Verdict{Decision: Allow}, nil }
	for _, c := range []struct {
		name string
		hook Hook
		says string
	}{
		{"all there", Hook{On: BeforeTool, Match: "b*", Timeout: time.Minute, Ask: ok}, ""},
		{"no event", Hook{On: "before", Ask: ok}, "is no event"},
		{"nothing to ask", Hook{On: AfterLoop}, "nothing to ask"},
		{"a match without tools", Hook{On: AfterLoop, Match: "bash", Ask: ok}, "match is for"},
		{"a bad pattern", Hook{On: AfterTool, Match: "a\x00", Ask: ok}, "NUL"},
		{"too long", Hook{On: AfterTool, Timeout: time.Hour, Ask: ok}, "at most 10m"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := NewSet(c.hook)
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Fatal(err)
			}
			if err == nil && (!s.Has(BeforeTool, "bash") || s.Has(BeforeTool, "read") || s.Has(AfterTool, "bash")) {
				t.Error("it is asked about the wrong tools")
			}
		})
	}
	if s, err := NewSet(); s != nil || err != nil || s.Has(BeforeTool, "x") || s.Ask(t.Context(), Moment{}).Decision != Allow {
		t.Error("no hooks are something")
	}
}

func TestParseEntry(t *testing.T) {
	for _, c := range []struct{ name, event, text, says string }{
		{"a command", "before-tool", "{command: ' ./x ', match: bash, timeout: 5s}", ""},
		{"an address", "after_loop", "{url: 'https://x.example/y?token=z'}", ""},
		{"neither", "after-loop", "{}", "either command or url"},
		{"both", "after-loop", "{command: x, url: 'http://x'}", "either command or url"},
		{"blank", "after-loop", "{command: ' '}", "either command or url"},
		{"no map", "after-loop", "x", "a hook is a map"},
		{"a list", "after-loop", "{command: [x]}", "command takes text"},
		{"another key", "after-loop", "{command: x, env: y}", `"env" is no key`},
		{"another event", "afterwards", "{command: x}", `"afterwards" is no event`},
		{"another scheme", "after-loop", "{url: 'ftp://x'}", "http or https"},
		{"a password", "after-loop", "{url: 'http://a:b@x'}", "user name or password"},
		{"no time", "after-loop", "{command: x, timeout: 5}", "timeout takes"},
		{"no tool", "after-loop", "{command: x, match: bash}", "has no tool"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var doc yaml.Node
			if err := yaml.Unmarshal([]byte(c.text), &doc); err != nil {
				t.Fatal(err)
			}
			e, err := ParseEntry(c.event, doc.Content[0])
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%+v, %v", e, err)
			}
			if err == nil && e.URL != "" && e.Does() != "https://x.example/y?…" {
				t.Errorf("it is shown as %s", e.Does())
			}
		})
	}
}
