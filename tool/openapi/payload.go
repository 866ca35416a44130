package openapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/textproto"
	"path/filepath"
	"strings"

	"github.com/rosterrun/roster/tool"
)

// maxPayload bounds a body, in bytes: it is held in memory.
const maxPayload = 32 << 20

// payload is a body: its bytes, or the pieces of which they are made.
type payload struct {
	kind   string // the media type
	pieces []piece
	files  []*tool.SentFile
	form   *multipart.Writer // of which the pieces are parts; nil: it is no form
}

// piece is a part of a body.
type piece struct {
	name, kind string // of a part of a form
	data       []byte
	file       *tool.SentFile // instead of data
}

func compacted(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// payload writes a body of an input; nil: the input has none of it.
func (b *Body) payload(in map[string]json.RawMessage, files *tool.Files) (*payload, error) {
	p := &payload{kind: b.Type}
	raw, whole := in[b.Arg]
	whole = whole && b.Arg != "" && string(raw) != "null"
	if !whole && !b.Required && !b.given(in) {
		return nil, nil
	}
	var err error
	switch b.Kind {
	case JSON:
		err = p.json(b, raw, whole, in)
	case Form:
		err = p.urlencoded(b, raw, whole, in)
	case Multipart:
		err = p.multipart(b, raw, whole, in, files)
	case Text:
		var v any
		if v, err = decodeAny(raw); err == nil {
			p.kind += "; charset=utf-8"
			p.pieces = []piece{{data: []byte(textOf(v))}}
		}
	case File:
		p.kind = cmp.Or(p.kind, "application/octet-stream")
		err = p.file("", "", raw, files)
	default:
		err = fmt.Errorf("a body of the kind %q is not written", b.Kind)
	}
	if err != nil {
		for _, f := range p.files {
			f.Close()
		}
		return nil, err
	}
	return p, nil
}

func (b *Body) given(in map[string]json.RawMessage) bool {
	for _, f := range b.Fields {
		if _, ok := in[f.Arg]; ok {
			return true
		}
	}
	return false
}

func (p *payload) json(b *Body, raw json.RawMessage, whole bool, in map[string]json.RawMessage) error {
	if whole {
		p.pieces = []piece{{data: []byte(compacted(raw))}}
		return nil
	}
	if b.Arg != "" {
		return fmt.Errorf("%s: the body is missing", b.Arg)
	}
	var out bytes.Buffer
	out.WriteByte('{')
	for _, f := range b.Fields {
		v, ok := in[f.Arg]
		if !ok {
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		name, err := json.Marshal(f.Name)
		if err != nil {
			return err
		}
		out.Write(name)
		out.WriteString(":" + compacted(v))
	}
	out.WriteByte('}')
	p.pieces = []piece{{data: out.Bytes()}}
	return nil
}

// fields calls do for each property of a form that there is an input for, in the
// order of the document, or, of a form that is one input, of names.
func (b *Body) fields(raw json.RawMessage, whole bool, in map[string]json.RawMessage, do func(*Field, json.RawMessage) error) error {
	if !whole {
		for i := range b.Fields {
			f := &b.Fields[i]
			if v, ok := in[f.Arg]; ok && string(v) != "null" {
				if err := do(f, v); err != nil {
					return fmt.Errorf("%s: %w", f.Arg, err)
				}
			}
		}
		return nil
	}
	v, err := decodeAny(raw)
	if err != nil {
		return err
	}
	if _, ok := v.(map[string]any); !ok {
		return fmt.Errorf("%s: a form is an object of its fields", b.Arg)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	for _, name := range sortedKeys(all) {
		f := &Field{Name: name}
		if b.Kind == Form {
			f.Style, f.Explode = "form", true
		}
		if string(all[name]) == "null" {
			continue
		}
		if err := do(f, all[name]); err != nil {
			return fmt.Errorf("%s.%s: %w", b.Arg, name, err)
		}
	}
	return nil
}

func (p *payload) urlencoded(b *Body, raw json.RawMessage, whole bool, in map[string]json.RawMessage) error {
	var pairs []pair
	err := b.fields(raw, whole, in, func(f *Field, raw json.RawMessage) error {
		if media, kind := mediaType(f.Type); f.Type != "" && kind == JSON && media != "" {
			pairs = append(pairs, pair{escape(f.Name, false), escape(compacted(raw), false)})
			return nil
		}
		v, err := valueOf(raw)
		if err == nil {
			pairs = append(pairs, v.pairs(f.Name, cmp.Or(f.Style, "form"), f.Explode, f.AllowReserved)...)
		}
		return err
	})
	p.pieces = []piece{{data: []byte(query(pairs))}}
	return err
}

func (p *payload) multipart(b *Body, raw json.RawMessage, whole bool, in map[string]json.RawMessage, files *tool.Files) error {
	p.form = multipart.NewWriter(io.Discard)
	p.kind = p.form.FormDataContentType()
	return b.fields(raw, whole, in, func(f *Field, raw json.RawMessage) error {
		if f.File {
			return p.file(f.Name, f.Type, raw, files)
		}
		return p.part(f, raw)
	})
}

// part writes a property: each item of a list is a part, and an object is one of
// JSON.
func (p *payload) part(f *Field, raw json.RawMessage) error {
	v, err := valueOf(raw)
	if err != nil {
		return err
	}
	add := func(kind, text string) {
		p.pieces = append(p.pieces, piece{name: f.Name, kind: kind, data: []byte(text)})
	}
	_, said := mediaType(f.Type)
	switch {
	case f.Type != "" && said == JSON:
		add(f.Type, compacted(raw))
	case f.Style != "" && f.Type == "" && v.kind != 't':
		for _, one := range v.pairs(f.Name, f.Style, f.Explode, true) {
			name, err1 := unescape(one.name)
			text, err2 := unescape(one.value)
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
			p.pieces = append(p.pieces, piece{name: name, data: []byte(text)})
		}
	case v.kind == 'l':
		items, _ := v.deep.([]any)
		for _, item := range items {
			kind := f.Type
			if _, nested := item.(map[string]any); nested && kind == "" {
				kind = "application/json"
			}
			add(kind, textOf(item))
		}
	case v.kind == 'n':
		add(cmp.Or(f.Type, "application/json"), compacted(raw))
	default:
		add(f.Type, v.text)
	}
	return nil
}

// file opens what an input names: the path of a file, or a list of such.
func (p *payload) file(name, kind string, raw json.RawMessage, files *tool.Files) error {
	var paths []string
	var one string
	switch {
	case json.Unmarshal(raw, &one) == nil:
		paths = []string{one}
	case json.Unmarshal(raw, &paths) != nil || name == "":
		return errors.New("it takes the path of a file of the workspace")
	}
	if files == nil {
		return errors.New("no files can be sent here")
	}
	for _, path := range paths {
		f, err := files.Open(path)
		if err != nil {
			return err
		}
		p.files = append(p.files, f)
		p.pieces = append(p.pieces, piece{name: name, kind: kind, file: f})
	}
	return nil
}

// bytes reads the files and gives the whole body.
func (p *payload) bytes() ([]byte, error) {
	var out bytes.Buffer
	var form *multipart.Writer
	if p.form != nil {
		form = multipart.NewWriter(&out)
		if err := form.SetBoundary(p.form.Boundary()); err != nil {
			return nil, err
		}
	}
	for _, part := range p.pieces {
		to := io.Writer(&out)
		if form != nil {
			var err error
			if to, err = form.CreatePart(part.header()); err != nil {
				return nil, err
			}
		}
		if err := part.write(to, maxPayload-out.Len()); err != nil {
			return nil, err
		}
	}
	if form != nil {
		if err := form.Close(); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

func (p piece) write(to io.Writer, room int) error {
	tooLarge := fmt.Errorf("the body has more than %d bytes, which is not sent", maxPayload)
	if p.file == nil {
		if len(p.data) > room {
			return tooLarge
		}
		_, err := to.Write(p.data)
		return err
	}
	if p.file.Err != nil {
		return p.file.Err
	}
	n, err := io.Copy(to, io.LimitReader(p.file, int64(room)+1))
	if err == nil && n > int64(room) {
		err = tooLarge
	}
	return err
}

// header is that of a part of a form.
func (p piece) header() textproto.MIMEHeader {
	quote := strings.NewReplacer("\\", "\\\\", `"`, `\"`, "\r", "%0D", "\n", "%0A")
	h := textproto.MIMEHeader{}
	disposition := `form-data; name="` + quote.Replace(p.name) + `"`
	kind := p.kind
	if p.file != nil {
		name := filepath.Base(p.file.Subject)
		disposition += `; filename="` + quote.Replace(name) + `"`
		if kind == "" || strings.Contains(kind, "*") {
			kind = cmp.Or(mime.TypeByExtension(filepath.Ext(name)), "application/octet-stream")
		}
	}
	h.Set("Content-Disposition", disposition)
	if kind != "" && headerText(kind) == nil {
		h.Set("Content-Type", kind)
	}
	return h
}
