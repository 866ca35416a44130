package resolve

import (
	"testing"

	"github.com/rosterrun/roster/source"
)

// What a variant sets holds against the layers below the one that names the model.
func TestVariant(t *testing.T) {
	files := map[string]string{
		"roster.yaml": "defaults: {temperature: 0.9, max-tokens: 7}\n",
		"models.yaml": "providers:\n  fake:\n    api: openai-chat\n    base-url: http://127.0.0.1:9\n    models:\n      text:\n        variants: {cold: {temperature: 0.1, top_p: 0.5}}\n",
	}
	for _, c := range []struct {
		name, front string
		flags       map[string]string
		temperature float64
		layer       source.Layer
		line        int
	}{
		{"over the defaults", "model: fake/text#cold\n", nil, 0.1, source.Defaults, 7},
		{"the profile sets it too", "model: fake/text#cold\ntemperature: 0.4\n", nil, 0.4, source.Profile, 5},
		{"a flag names it over the profile's value", "model: fake/text\ntemperature: 0.4\n", map[string]string{"model": "text#cold"}, 0.1, source.Defaults, 7},
		{"a flag sets both", "model: fake/text\n", map[string]string{"model": "fake/text#cold", "temperature": "0.3"}, 0.3, source.Flag, 0},
		{"without it", "model: fake/text\n", nil, 0.9, source.Defaults, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := newWorld(t, files).input(t, "profiles/a.md", "---\nname: a\ndescription: d\n"+c.front+"---\nx\n")
			in.Flags = c.flags
			s, _, err := Spec(in)
			if err != nil {
				t.Fatal(err)
			}
			at := s.Origins["temperature"].Origin
			if *s.Params.Temperature != c.temperature || at.Layer != c.layer || at.Line != c.line {
				t.Errorf("temperature %v from %+v, want %v from %s, line %d", *s.Params.Temperature, at, c.temperature, c.layer, c.line)
			}
			if s.Model.String() != "fake/text" || s.Params.MaxTokens != 7 {
				t.Errorf("model %s, max-tokens %d", s.Model, s.Params.MaxTokens)
			}
		})
	}
}

// TestThinking: what is asked for becomes what the model can, and who asked for
// otherwise is told.
func TestThinking(t *testing.T) {
	const models = `providers:
  old: {api: anthropic, base-url: "http://127.0.0.1:1", models: {m: {thinking-levels: [off, low, medium, high], variants: {deep: {thinking: high}}}}}
  new: {api: openai-responses, base-url: "http://127.0.0.1:1", models: {m: {thinking-levels: [low, high]}}}
  none: {api: openai-chat, base-url: "http://127.0.0.1:1", models: {m: {thinking-levels: []}}}
  own: {api: openai-chat, base-url: "http://127.0.0.1:1"}
`
	for _, c := range []struct {
		name, keys, explained string
		temperature           bool
		code                  string
	}{
		{"nobody asks", "model: old/m", "medium", false, ""},
		{"nobody asks, beside a temperature", "model: old/m\ntemperature: 0.5", "off", true, ""},
		{"asked for, beside a temperature", "model: old/m\ntemperature: 0.5\nthinking: low", "low", false, CodeSampling},
		{"by a variant", "model: old/m#deep", "high", false, ""},
		{"the nearest", "model: new/m\nthinking: off", "low", false, CodeThinking},
		{"it does not think", "model: none/m\nthinking: high", "", false, CodeThinking},
		{"it does not think, and need not", "model: none/m\nthinking: off", "", false, ""},
		{"nobody knows", "model: own/m\nthinking: high", "high", false, ""},
		{"nobody knows, and nobody asks", "model: own/m", "", false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"roster.yaml": models})
			s, ds, err := Spec(w.input(t, "profiles/a.md", "---\n"+c.keys+"\n---\nHi."))
			if err != nil {
				t.Fatal(err)
			}
			if got := Explain(s).Fields["thinking"].Value; got != c.explained {
				t.Errorf("thinking %v, want %s", got, c.explained)
			}
			if (s.Params.Temperature != nil) != c.temperature {
				t.Errorf("temperature %v", s.Params.Temperature)
			}
			code := ""
			for _, d := range ds {
				code += d.Code
			}
			if code != c.code {
				t.Errorf("diagnostics %q, want %q: %v", code, c.code, ds)
			}
		})
	}
}
