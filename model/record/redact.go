package record

import (
	"bytes"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// redactJSON passes every string and number of a JSON value, names of members
// included, through redact.
func redactJSON(value []byte, redact func(string) string) ([]byte, error) {
	var out bytes.Buffer
	lenient := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	dec := jsontext.NewDecoder(bytes.NewReader(value), lenient...)
	enc := jsontext.NewEncoder(&out, lenient...)
	for {
		tok, err := dec.ReadToken()
		if err == io.EOF {
			return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
		}
		if err != nil {
			return nil, err
		}
		switch tok.Kind() {
		case '"':
			tok = jsontext.String(redact(tok.String()))
		case '0':
			if s := tok.String(); redact(s) != s {
				tok = jsontext.String(redact(s))
			}
		}
		if err := enc.WriteToken(tok); err != nil {
			return nil, err
		}
	}
}

// redactChunks gives up the chunks of an answer when a secret runs through
// them: no single piece may show it.
func (c *call) redactChunks(redact func(string) string) {
	var text, thinking strings.Builder
	args := map[string]*strings.Builder{}
	for _, k := range c.Chunks {
		text.WriteString(k.Text)
		thinking.WriteString(k.Thinking)
		if k.Call != "" && args[k.Call] == nil {
			args[k.Call] = &strings.Builder{}
		}
		if k.Call != "" {
			args[k.Call].WriteString(k.Args)
		}
	}
	hit := redact(text.String()) != text.String() || redact(thinking.String()) != thinking.String()
	for _, a := range args {
		hit = hit || secretIn(a.String(), redact)
	}
	if !hit {
		return
	}
	c.Chunks = nil
	if c.Done == nil {
		c.Chunks = []chunk{{At: c.Took, Thinking: redact(thinking.String()), Text: redact(text.String())}}
	}
}

// secretIn looks into text that is JSON, or a part of it.
func secretIn(args string, redact func(string) string) bool {
	if redact(args) != args {
		return true
	}
	hit := false
	_, err := redactJSON([]byte(args), func(s string) string {
		hit = hit || redact(s) != s
		return s
	})
	return hit || (err != nil && strings.Contains(args, `\`))
}
