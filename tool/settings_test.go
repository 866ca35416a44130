package tool

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/tool/contract"
)

func TestSettingsThatCannotBeUsed(t *testing.T) {
	tests := map[string]struct{ tool, set, want string }{
		"unknown key":      {"read", `{"limits": 3}`, "tool-settings.read.limits: there is no such setting; this tool has limit, line-numbers, max-line-length"},
		"null":             {"read", `{"limit": null}`, "tool-settings.read.limit: null is no value; leave the key out for the default"},
		"unknown and null": {"glob", `{"x": null}`, "tool-settings.glob.x: there is no such setting; this tool has limit"},
		"too small":        {"read", `{"limit": 0}`, "tool-settings.read.limit: 0 is not a whole number of at least 1"},
		"line too short":   {"grep", `{"max-line-length": 3}`, "tool-settings.grep.max-line-length: 3 is not a whole number of at least 4"},
		"not whole":        {"glob", `{"limit": 1.5}`, "tool-settings.glob.limit: 1.5 is not a whole number of at least 1"},
		"not boolean":      {"grep", `{"line-numbers": "yes"}`, `tool-settings.grep.line-numbers: "yes" is not a boolean; write true or false`},
		"no time":          {"bash", `{"timeout": "x"}`, `tool-settings.bash.timeout: "x" is not a time; write seconds or a duration such as 90s or 5m, at most 24h0m0s`},
		"timeout over max": {"bash", `{"timeout": 60, "max-timeout": "30s"}`, "tool-settings.bash.timeout: 1m0s is more than max-timeout, which is 30s"},
		"no settings":      {"write", `{"a": 1}`, "tool-settings.write.a: there is no such setting; this tool has none"},
		"not a map":        {"edit", `[1]`, "tool-settings.edit: write a map of settings"},
		"null for all":     {"read", `null`, "tool-settings.read: write a map of settings"},
		"two at once": {"read", `{"a": 1, "limit": null}`, "tool-settings.read.a: there is no such setting; this tool has limit, line-numbers, max-line-length\n" +
			"tool-settings.read.limit: null is no value; leave the key out for the default"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := contract.Check(tt.tool, json.RawMessage(tt.set))
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %v", err, tt.want)
			}
			var setting *SettingError
			if !errors.As(err, &setting) || setting.Tool != tt.tool {
				t.Errorf("got %#v", setting)
			}
			_, built := Builtins(Env{Root: "/", Exec: []string{"x"}, Settings: map[string]json.RawMessage{tt.tool: json.RawMessage(tt.set)}})
			if built == nil {
				t.Error("built with it")
			}
		})
	}
	for _, good := range []struct{ tool, set string }{
		{"bash", `{"timeout": 1.5, "max-timeout": "2m"}`}, {"read", `{}`}, {"read", ``}, {"elsewhere", `{"x": null}`},
	} {
		if err := contract.Check(good.tool, json.RawMessage(good.set)); err != nil {
			t.Error(err)
		}
	}
}

func TestValidatorListsEveryViolation(t *testing.T) {
	v, err := NewValidator(Define("read", nil))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ input, want string }{
		"several": {`{"offset": 0, "limit": "x", "colour": "red"}`, "the input does not fit the schema of read, nothing was done:\n" +
			"- input: additional properties 'colour' not allowed\n- input: missing property 'path'\n" +
			"- limit: got string, want integer\n- offset: minimum: got 0, want 1\nCall it again with these corrected."},
		"not an object": {`[]`, "the input does not fit the schema of read, nothing was done:\n- input: got array, want object\nCall it again with these corrected."},
		"not json":      {`{"path"`, "the input does not fit the schema of read, nothing was done:\n- the input is not valid JSON: unexpected EOF\nCall it again with these corrected."},
		"trailing":      {`{"path":"a"} x`, "the input does not fit the schema of read, nothing was done:\n- the input is not valid JSON: invalid character after top-level value\nCall it again with these corrected."},
		"other case":    {`{"path":"a","PATH":"b"}`, "the input does not fit the schema of read, nothing was done:\n- input: additional properties 'PATH' not allowed\nCall it again with these corrected."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := v.Validate([]byte(tt.input))
			var bad *InputError
			if !errors.As(err, &bad) || bad.Error() != tt.want {
				t.Errorf("got  %v\nwant %v", err, tt.want)
			}
		})
	}
	if err := v.Validate([]byte(`{"path":"a","limit":3}`)); err != nil {
		t.Error(err)
	}
}

func TestValidatorRefusesBadSchemas(t *testing.T) {
	for name, schema := range map[string]string{
		"not json":    `{`,
		"not valid":   `{"type": "nonsense"}`,
		"fetches":     `{"$ref": "https://example.com/schema.json"}`,
		"reads files": `{"$ref": "file:///etc/passwd"}`,
	} {
		if _, err := NewValidator(&model.ToolDef{Name: "x", Schema: []byte(schema)}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzValidate(f *testing.F) {
	f.Add([]byte(`{"path":"a","offset":1}`))
	f.Add([]byte(`{"path":"\u0000","limit":1e400}`))
	v, err := NewValidator(Define("read", nil))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		if v.Validate(input) == nil && !json.Valid(input) {
			t.Errorf("%q passes and is not JSON", input)
		}
	})
}

func BenchmarkValidate(b *testing.B) {
	v, err := NewValidator(Define("read", nil))
	if err != nil {
		b.Fatal(err)
	}
	input := []byte(`{"path":"internal/deep/file.go","offset":10,"limit":100}`)
	b.ReportAllocs()
	for b.Loop() {
		if err := v.Validate(input); err != nil {
			b.Fatal(err)
		}
	}
}
