package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/tool"
)

const (
	// maxText bounds the text of a result, in bytes: of more, the beginning and the
	// end are told.
	maxText = 64 << 10
	// maxImage is what providers take, in bytes, and maxImages how many there are.
	maxImage  = 5 << 20
	maxImages = 16
)

// result is what a model is told of a call.
func result(r *sdk.CallToolResult) tool.Result {
	b := &builder{left: maxText}
	for _, c := range r.Content {
		b.content(c)
	}
	if r.StructuredContent != nil && !b.has(r.StructuredContent) {
		if data, err := json.Marshal(r.StructuredContent); err == nil {
			b.text(string(data))
		}
	}
	return tool.Result{Parts: b.parts(), Error: r.IsError}
}

// builder gathers the parts of a result within its bounds.
type builder struct {
	texts  []string // as they came
	list   []message.Part
	left   int // bytes of text
	images int
}

func (b *builder) parts() []message.Part {
	if len(b.list) == 0 {
		return []message.Part{message.Text{Text: "[the tool gave nothing]"}}
	}
	return b.list
}

// text adds a text. One that is too long loses its middle.
func (b *builder) text(text string) {
	b.texts = append(b.texts, text)
	text = readable(text)
	text = shorten(text, b.left)
	b.left = max(0, b.left-len(text))
	b.list = append(b.list, message.Text{Text: text})
}

// shorten leaves the beginning and the end of a text that is too long.
func shorten(text string, max int) string {
	if len(text) <= max {
		return text
	}
	head, _ := cut(text, max*3/4)
	from := len(text) - max/4
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	return fmt.Sprintf("%s\n[%d bytes cut]\n%s", head, from-len(head), text[from:])
}

func (b *builder) content(c sdk.Content) {
	switch c := c.(type) {
	case *sdk.TextContent:
		b.text(c.Text)
	case *sdk.ImageContent:
		b.image(c.Data, c.MIMEType, "")
	case *sdk.AudioContent:
		b.text(fmt.Sprintf("[audio, %s, %d bytes: it cannot be listened to]", line(c.MIMEType, maxTitle), len(c.Data)))
	case *sdk.ResourceLink:
		b.text(linkText(c))
	case *sdk.EmbeddedResource:
		b.resource(c.Resource)
	default:
		b.text(fmt.Sprintf("[a part of the kind %T was left out]", c))
	}
}

// image adds an image of a kind that providers take, whatever it was said to be.
func (b *builder) image(data []byte, said, of string) {
	if of != "" {
		of = " of " + of
	}
	kind := http.DetectContentType(data)
	switch {
	case !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind):
		b.text(fmt.Sprintf("[an image%s, %s, %d bytes: only PNG, JPEG, GIF and WebP can be looked at]", of, line(said, maxTitle), len(data)))
	case len(data) > maxImage:
		b.text(fmt.Sprintf("[an image%s, %s, %d bytes: it is too large to look at, which may be %d bytes]", of, kind, len(data), maxImage))
	case b.images >= maxImages:
		b.text(fmt.Sprintf("[an image%s, %s, %d bytes: it was left out, for there are more than %d]", of, kind, len(data), maxImages))
	default:
		b.images++
		if of != "" {
			b.text("[an image" + of + "]")
		}
		b.list = append(b.list, message.Image{MediaType: kind, Data: data})
	}
}

func (b *builder) resource(r *sdk.ResourceContents) {
	if r == nil {
		b.text("[an empty resource]")
		return
	}
	uri := line(r.URI, maxRefusal)
	switch {
	case len(r.Blob) == 0:
		b.text(fmt.Sprintf("[resource %s%s]\n%s", uri, kindText(r.MIMEType), r.Text))
	case strings.HasPrefix(r.MIMEType, "image/"):
		b.image(r.Blob, r.MIMEType, uri)
	case strings.HasPrefix(r.MIMEType, "text/") && utf8.Valid(r.Blob):
		b.text(fmt.Sprintf("[resource %s%s]\n%s", uri, kindText(r.MIMEType), r.Blob))
	default:
		b.text(fmt.Sprintf("[resource %s%s, %d bytes that are no text]", uri, kindText(r.MIMEType), len(r.Blob)))
	}
}

func linkText(l *sdk.ResourceLink) string {
	text := "[a resource that can be read: " + line(l.URI, maxRefusal) + kindText(l.MIMEType)
	if l.Name != "" {
		text += ", " + line(l.Name, maxTitle)
	}
	if l.Description != "" {
		text += ": " + line(l.Description, maxDescription)
	}
	return text + "]"
}

func kindText(mime string) string {
	if mime == "" {
		return ""
	}
	return " (" + line(mime, maxTitle) + ")"
}

// has says whether one of the texts is the same as a value.
func (b *builder) has(value any) bool {
	return slices.ContainsFunc(b.texts, func(text string) bool {
		var same any
		return json.Unmarshal([]byte(text), &same) == nil && reflect.DeepEqual(same, value)
	})
}
