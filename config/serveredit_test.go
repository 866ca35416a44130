package config

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
)

func TestPutServer(t *testing.T) {
	one := profile.Server{Name: "one", Command: "npx", Args: []string{"-y", "@a/b", "true"}}
	const entry = `one: {command: npx, args: ["-y", "@a/b", "true"]}`
	for _, c := range []struct{ name, text, put, drop string }{
		{"nothing", "", "mcp-servers:\n  " + entry + "\n", "!"},
		{"comments alone", "# mine\n", "# mine\nmcp-servers:\n  " + entry + "\n", "!"},
		{"other keys", "# a\nstore: x # b\n", "# a\nstore: x # b\nmcp-servers:\n  " + entry + "\n", "!"},
		{"other servers", "mcp-servers:\n    # two\n    two: {command: x} # c\n\n# end\nstore: x\n", "mcp-servers:\n    # two\n    two: {command: x} # c\n    " + entry + "\n\n# end\nstore: x\n", "!"},
		{"that one", "a: b\nmcp-servers:\n  one:\n    command: x\n    # inner\n  # of two\n  two: {command: y}\n", "a: b\nmcp-servers:\n  " + entry + "\n  # of two\n  two: {command: y}\n", "a: b\nmcp-servers:\n  # of two\n  two: {command: y}\n"},
		{"that one alone", "mcp-servers:\n  one: {command: x}\nstore: x\n", "mcp-servers:\n  " + entry + "\nstore: x\n", "store: x\n"},
		{"an empty value", "mcp-servers:\nstore: x\n", "mcp-servers:\n  " + entry + "\nstore: x\n", "!"},
		{"braces", "mcp-servers: {one: {command: x}}\n", "by hand", "by hand"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := PutServer([]byte(c.text), one)
			check(t, "put", c.put, string(got), err)
			got, err = DropServer([]byte(c.text), "one")
			check(t, "drop", c.drop, string(got), err)
		})
	}
}

func check(t *testing.T, what, want, got string, err error) {
	t.Helper()
	switch {
	case want == "by hand":
		if !errors.Is(err, ErrByHand) {
			t.Errorf("%s: %v", what, err)
		}
	case want == "!":
		if err == nil {
			t.Errorf("%s gives %q", what, got)
		}
	case err != nil || got != want:
		t.Errorf("%s: %v %s", what, err, cmp.Diff(want, got))
	}
}

// FuzzPutServer puts servers of any texts: what is read again is what was put.
func FuzzPutServer(f *testing.F) {
	f.Add("a: b\n", "npx", "-y", "A", "${B}")
	f.Add("mcp-servers:\n  x: {command: y}\n", "no", "a: b", "off", "#c\n\"")
	f.Fuzz(func(t *testing.T, text, command, arg, name, value string) {
		s := profile.Server{Name: "s", Command: command, Args: []string{arg}, Env: []profile.Pair{{Name: name, Value: value}}, Timeout: 90 * time.Second}
		want, _, _, err := profile.ParseServer("s", node(t, serverText(s)), time.Second)
		if err != nil {
			return
		}
		out, err := PutServer([]byte(text), s)
		if err != nil {
			return
		}
		var doc yaml.Node
		if err := yaml.Load(out, &doc); err != nil {
			t.Fatal(err)
		}
		for i := 0; i+1 < len(doc.Content[0].Content); i += 2 {
			if strings.ReplaceAll(doc.Content[0].Content[i].Value, "_", "-") != profile.Servers {
				continue
			}
			list, _, _ := profile.ServerEntries(doc.Content[0].Content[i+1])
			for _, e := range list {
				if e.Name != "s" {
					continue
				}
				if got, _, _, err := profile.ParseServer("s", e.Value, time.Second); err != nil || !cmp.Equal(want, got) {
					t.Fatalf("%q: %v %s", out, err, cmp.Diff(want, got))
				}
				return
			}
		}
	})
}

func node(t *testing.T, text string) *yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Load([]byte(text), &doc); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return doc.Content[0]
}
