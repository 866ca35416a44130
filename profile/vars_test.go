package profile_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/rosterrun/roster/profile"
)

func TestExpandVars(t *testing.T) {
	lookup := func(name string) (string, bool) {
		v, ok := map[string]string{"A": "1", "B_2": "${A}", "EMPTY": ""}[name]
		return v, ok
	}
	for text, want := range map[string]string{
		"plain $A {A}":    "plain $A {A}",
		"${A}":            "1",
		"x ${A}${B_2} y":  "x 1${A} y",
		"[${EMPTY}]":      "[]",
		"$${A}":           "${A}",
		"$$${A}":          "$${A}",
		"${} ${a-b} ${9}": "${} ${a-b} ${9}",
		"${A":             "${A",
		"${${A}":          "${1",
	} {
		got, err := profile.ExpandVars(text, lookup)
		if err != nil || got != want {
			t.Errorf("%q gives %q, %v, want %q", text, got, err, want)
		}
	}
	_, err := profile.ExpandVars("a ${NONE} b", lookup)
	var missing *profile.MissingVariable
	if !errors.As(err, &missing) || missing.Name != "NONE" {
		t.Errorf("a missing variable: %v", err)
	}
}

func TestEscapeVars(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[${}A ]{0,20}`).Draw(t, "text")
		got, err := profile.ExpandVars(profile.EscapeVars(text), func(string) (string, bool) { return "", false })
		if err != nil || got != text {
			t.Fatalf("%q comes back as %q, %v", text, got, err)
		}
	})
}
