package contract

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Schema is the JSON Schema of a call's input, without blanks. value is as in
// Fill.
func (t *Tool) Schema(value func(setting string) string) []byte {
	w := schemaWriter{tool: t, value: value}
	w.object(t.Inputs, true)
	return w.Bytes()
}

type schemaWriter struct {
	bytes.Buffer
	tool  *Tool
	value func(string) string
}

// object writes an object. A closed one takes nothing that is not listed.
func (w *schemaWriter) object(of []Input, closed bool) {
	w.WriteString(`{"type":"object","properties":{`)
	var required []string
	for i := range of {
		if i > 0 {
			w.WriteByte(',')
		}
		w.json(of[i].Name)
		w.WriteByte(':')
		w.input(&of[i])
		if of[i].Required {
			required = append(required, of[i].Name)
		}
	}
	w.WriteByte('}')
	if required != nil {
		w.WriteString(`,"required":`)
		w.json(required)
	}
	if closed {
		w.WriteString(`,"additionalProperties":false`)
	}
	w.WriteByte('}')
}

func (w *schemaWriter) input(in *Input) {
	if in.Type == "object" {
		w.object(in.Of, false)
		return
	}
	w.WriteString(`{"type":`)
	if types := strings.Split(in.Type, "|"); len(types) > 1 {
		w.json(types)
	} else {
		w.json(in.Type)
	}
	if in.Words != nil {
		w.WriteString(`,"enum":`)
		w.json(in.Words)
	}
	low, high := bounds(in.Type)
	w.bound(low, in.Min)
	w.bound(high, in.Max)
	if in.Text != "" {
		w.WriteString(`,"description":`)
		w.json(w.tool.Fill(in.Text, w.value))
	}
	if in.Items != nil {
		w.WriteString(`,"items":`)
		w.input(in.Items)
	}
	w.WriteByte('}')
}

// bounds are the keywords that bound a type.
func bounds(of string) (low, high string) {
	switch of {
	case "string":
		return "minLength", "maxLength"
	case "array":
		return "minItems", "maxItems"
	}
	return "minimum", "maximum"
}

func (w *schemaWriter) bound(keyword string, n int) {
	if n != 0 {
		w.WriteString(`,"` + keyword + `":` + strconv.Itoa(n))
	}
}

// json writes a text or a list of texts.
func (w *schemaWriter) json(v any) {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // texts can be encoded
	}
	w.Truncate(w.Len() - 1)
}
