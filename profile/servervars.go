package profile

import (
	"fmt"
	"slices"
	"strings"
)

// Variables lists the variables that the texts of a server name, each once.
func (s Server) Variables() []string {
	var names []string
	_, _ = s.Expand(func(name string) (string, bool) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		return "x", true
	})
	return names
}

// Expand fills the variables in. The error names the key and the variable.
func (s Server) Expand(lookup func(string) (string, bool)) (Server, error) {
	var err error
	fill := func(key, text string) string {
		out, bad := expandServer(text, lookup)
		if bad != nil && err == nil {
			err = fmt.Errorf("%s: %w", key, bad)
		}
		return out
	}
	out := s
	out.Command, out.Dir, out.URL = fill("command", s.Command), fill("dir", s.Dir), fill("url", s.URL)
	out.Args = slices.Clone(s.Args)
	for i := range out.Args {
		out.Args[i] = fill("args", s.Args[i])
	}
	pairs := func(key string, list []Pair) []Pair {
		list = slices.Clone(list)
		for i := range list {
			list[i].Value = fill(key+"."+list[i].Name, list[i].Value)
		}
		return list
	}
	out.Env, out.Headers = pairs("env", s.Env), pairs("headers", s.Headers)
	if err == nil && s.URL != "" {
		if err = ServerURL(out.URL); err != nil {
			err = fmt.Errorf("url: %w", err)
		}
	}
	if err != nil {
		return Server{}, err
	}
	return out, nil
}

// expandServer fills in ${NAME}, ${env:NAME}, and ${NAME:-text}, which stands for
// the text where the variable is not set. $${ is ${ itself. What holds no name
// stays as it is, and the result is not looked through again.
func expandServer(text string, lookup func(string) (string, bool)) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		if strings.HasSuffix(before, "$") {
			kept := strings.TrimSuffix(b.String(), "$")
			b.Reset()
			b.WriteString(kept + "${")
			text = rest
			continue
		}
		inner, after, closed := strings.Cut(rest, "}")
		name, otherwise, has := strings.Cut(inner, ":-")
		name = strings.TrimPrefix(name, "env:")
		if !closed || !isVariable(name) {
			b.WriteString("${")
			text = rest
			continue
		}
		text = after
		value, set := lookup(name)
		switch {
		case set:
			b.WriteString(value)
		case has:
			b.WriteString(otherwise)
		default:
			return "", &MissingVariable{Name: name}
		}
	}
}
