package catalog

import (
	"errors"
	"strings"
	"testing"
)

func TestVariants(t *testing.T) {
	c := New(Options{
		Providers: []Provider{
			{Name: "p", API: val("openai-chat"), BaseURL: val("http://127.0.0.1:1/v1"), Models: []Model{
				{ID: "m", ContextWindow: val(10), Variants: []Variant{{Name: "cold", Temperature: val(0.0), TopP: val(0.5)}}},
				{ID: "a#b"}, {ID: "m#own"}, {ID: "plain"},
			}},
			{Name: "any", API: val("openai-chat"), BaseURL: val("http://127.0.0.1:1/v1")},
			{Name: "p", Models: []Model{{ID: "m", Variants: []Variant{{Name: "cold", Temperature: val(0.1)}, {Name: "hot", Temperature: val(1.0)}}}}},
		},
		Aliases: []Alias{{Name: "quick", Target: "p/m"}},
	})
	for _, tc := range []struct {
		name, text, model, variant string
	}{
		{"with its provider", "p/m#cold", "p/m", "cold"},
		{"with a colon", "p:m#hot", "p/m", "hot"},
		{"of a bare id", "m#cold", "p/m", "cold"},
		{"of an alias", "quick#hot", "p/m", "hot"},
		{"none", "p/m", "p/m", ""},
		{"an id with # is an id", "p/a#b", "p/a#b", ""},
		{"a declared id wins over a variant", "p/m#own", "p/m#own", ""},
		{"of a provider that takes any id", "any/b:c#d", "any/b:c#d", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := c.Lookup(Ref{Text: tc.text})
			if err != nil {
				t.Fatal(err)
			}
			variant := ""
			if r.Variant != nil {
				variant = r.Variant.Name
			}
			if r.Model.String() != tc.model || variant != tc.variant {
				t.Errorf("%s, variant %q, want %s, %q", r.Model, variant, tc.model, tc.variant)
			}
		})
	}
	r, err := c.Lookup(Ref{Text: "p/m#cold"})
	if err != nil || r.Variant.Temperature.V != 0.1 || r.Variant.TopP.V != 0.5 || r.Model.ContextWindow != 10 {
		t.Errorf("a later layer replaces field by field: %+v, %v", r.Variant, err)
	}
	for text, says := range map[string]string{"p/m#col": "its variants are cold, hot", "p/plain#cold": "has no model", "nothing#cold": "no alias or single model"} {
		_, err := c.Lookup(Ref{Text: text})
		var e *ModelError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
