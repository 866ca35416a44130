package web

import (
	"context"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// markdown makes Markdown of a page, without what a person would not see of it.
// What nests too deep for a tree is given as the bare text.
func markdown(ctx context.Context, at *url.URL, source string) (text string, err error) {
	doc, err := html.Parse(cancelled{ctx, strings.NewReader(source)})
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return bare(source), nil
	}
	defer func() {
		if recover() != nil { // the page broke the converter
			text, err = bare(source), ctx.Err()
		}
	}()
	p := prune{at: at}
	p.walk(doc)
	out, err := newConverter().ConvertNode(doc, converter.WithContext(ctx))
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return bare(source), nil
	}
	text = clean(string(out))
	if title := strings.Join(strings.Fields(clean(p.title)), " "); title != "" {
		text = "Title: " + title + "\n\n" + text
	}
	return text, nil
}

func newConverter() *converter.Converter {
	// A model reads a lone star as what it is, and finding out which are alone takes
	// the square of a page's length.
	c := converter.NewConverter(converter.WithEscapeMode(converter.EscapeModeDisabled), converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(),
		table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal))))
	stop := func(ctx converter.Context, _ converter.Writer, _ *html.Node) converter.RenderStatus {
		if ctx.Err() != nil { // nobody waits for it
			return converter.RenderSuccess
		}
		return converter.RenderTryNext
	}
	c.Register.Renderer(stop, converter.PriorityEarly-1)
	return c
}

// cancelled reads until ctx ends.
type cancelled struct {
	ctx context.Context
	r   io.Reader
}

func (c cancelled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// prune takes out of a tree what is not for reading, and makes its addresses
// whole.
type prune struct {
	at    *url.URL
	title string
}

func (p *prune) walk(n *html.Node) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		switch {
		case c.DataAtom == atom.Title && p.title == "" && c.Namespace == "":
			if c.FirstChild != nil {
				p.title = c.FirstChild.Data
			}
		case c.DataAtom == atom.Base:
			if to, err := p.at.Parse(attr(c, "href")); err == nil && (to.Scheme == "http" || to.Scheme == "https") {
				p.at = to
			}
		}
		if c.Type == html.CommentNode || c.Type == html.ElementNode && unseen(c) {
			n.RemoveChild(c)
		} else {
			p.addresses(c)
			p.walk(c)
		}
		c = next
	}
}

func unseen(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Svg, atom.Iframe, atom.Object, atom.Embed, atom.Canvas,
		atom.Audio, atom.Video, atom.Input, atom.Textarea, atom.Select, atom.Button, atom.Dialog:
		return true
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return true
		case "style":
			style := strings.ToLower(strings.Join(strings.Fields(a.Val), ""))
			if strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") {
				return true
			}
		}
	}
	return false
}

// addresses makes those of links and images whole, and takes out those that
// lead to no page.
func (p *prune) addresses(n *html.Node) {
	n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "srcset" })
	for i, a := range n.Attr {
		if a.Key != "href" && a.Key != "src" {
			continue
		}
		to, err := p.at.Parse(strings.TrimSpace(a.Val))
		switch {
		case err != nil, to.Scheme != "http" && to.Scheme != "https" && to.Scheme != "mailto":
			n.Attr[i].Val = ""
		default:
			n.Attr[i].Val = to.String()
		}
	}
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// bare is the text of a page without its tags.
func bare(source string) string {
	return "[the page could not be read as a tree; this is its text]\n" + words(source)
}

// words are the words of a piece of HTML, on one line.
func words(source string) string {
	var out strings.Builder
	z := html.NewTokenizer(strings.NewReader(source))
	skip := ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(clean(out.String())), " ")
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			tag := atom.Lookup(name)
			if tag == atom.Script || tag == atom.Style || tag == atom.Noscript {
				skip = string(name)
			}
			space(&out, tag)
		case html.EndTagToken:
			name, _ := z.TagName()
			if string(name) == skip {
				skip = ""
			}
			space(&out, atom.Lookup(name))
		case html.TextToken:
			if skip == "" {
				out.Write(z.Text())
			}
		}
	}
}

// space parts what a tag parts: words go on through emphasis and the like.
func space(out *strings.Builder, tag atom.Atom) {
	switch tag {
	case atom.A, atom.B, atom.I, atom.Em, atom.Strong, atom.Mark, atom.Span, atom.Code, atom.Sub, atom.Sup, atom.Small, atom.U, atom.S, atom.Font:
	default:
		out.WriteByte(' ')
	}
}
