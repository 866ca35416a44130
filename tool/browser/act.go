package browser

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/web"
)

//go:embed use.js
var useScript string

// place is what use.js says of an element.
type place struct {
	Problem string  `json:"problem"`
	Covered string  `json:"covered"`
	Done    bool    `json:"done"`
	Focused bool    `json:"focused"`
	X       float64 `json:"x"`
	Y       float64 `json:"y"`
}

func (p *plan) act(ctx context.Context, b *browser) (tool.Result, error) {
	b.page.mu.Lock()
	var e element
	if n := p.in.Element; n <= len(b.page.elements) {
		e = b.page.elements[n-1]
	}
	before := b.page.loader
	b.page.mu.Unlock()
	var err error
	if p.tool.def.Name == ClickName {
		err = p.click(ctx, b, e)
	} else {
		err = p.fill(ctx, b, e)
	}
	if err != nil {
		return tool.Result{}, err
	}
	b.page.until(ctx, begins, func() bool { return b.page.leaving || b.page.loader != before })
	loaded := b.page.settle(ctx, p.timeout)
	b.page.mu.Lock()
	changed, at := b.page.loader != before, b.page.url
	b.page.mu.Unlock()
	if changed {
		about := ""
		if !loaded {
			about = fmt.Sprintf("It had not loaded wholly after %v.", p.timeout)
		}
		return b.read(ctx, about)
	}
	done := map[string]string{ClickName: "Clicked on", FillName: "Filled in"}[p.tool.def.Name]
	lines := append([]string{fmt.Sprintf("%s element %d. The page is still %s; %s shows what has changed on it.", done, p.in.Element, web.Clean(clip(at, 1000)), ReadName)}, b.said()...)
	return tool.Text(strings.Join(lines, "\n")), nil
}

func (p *plan) use(ctx context.Context, b *browser, how, value string) (place, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return place{}, err
	}
	var at place
	if err := b.page.eval(ctx, fmt.Sprintf("(%s)(%d, %q, %s)", useScript, p.in.Element, how, text), &at); err != nil {
		return at, err
	}
	n := p.in.Element
	switch at.Problem {
	case "":
		return at, nil
	case "gone":
		return at, fmt.Errorf("element %d is not there any more: %s says which there are now", n, ReadName)
	case "disabled", "readonly":
		return at, fmt.Errorf("element %d is %s", n, at.Problem)
	case "covered":
		return at, fmt.Errorf("element %d is covered by another: %s", n, web.Clean(cmp.Or(at.Covered, "without text")))
	case "option":
		return at, fmt.Errorf("element %d has no option %q; it has %s", n, p.in.Text, web.Clean(clip(at.Covered, 2000)))
	case "value":
		return at, fmt.Errorf("element %d does not take %q: write a date as 2006-01-02, a time as 15:04, a colour as #rrggbb", n, p.in.Text)
	}
	return at, fmt.Errorf("element %d cannot be reached with a pointer: it is %s", n, at.Problem)
}

func (p *plan) click(ctx context.Context, b *browser, _ element) error {
	at, err := p.use(ctx, b, "click", "")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, commandTime, errHangs)
	defer cancel()
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		params := map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}
		if kind == "mouseMoved" {
			params["button"], params["clickCount"] = "none", 0
		}
		if err := b.page.pipe.call(ctx, b.page.session, "Input.dispatchMouseEvent", params, nil); err != nil {
			return b.page.hung(ctx, err)
		}
	}
	return nil
}

func (p *plan) fill(ctx context.Context, b *browser, e element) error {
	how := "fill"
	switch e.Kind {
	case "select":
		how = "select"
	case "field":
	default:
		return fmt.Errorf("element %d is a %s, which cannot be filled in: use %s", p.in.Element, e.Kind, ClickName)
	}
	at, err := p.use(ctx, b, how, p.in.Text)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, commandTime, errHangs)
	defer cancel()
	if !at.Done {
		if !at.Focused {
			return fmt.Errorf("element %d does not take any input", p.in.Element)
		}
		err = p.typeIn(ctx, b)
	}
	if err == nil && p.in.Submit {
		err = p.enter(ctx, b)
	}
	if err != nil {
		return b.page.hung(ctx, err)
	}
	return nil
}

func (p *plan) typeIn(ctx context.Context, b *browser) error {
	if p.in.Text == "" {
		return p.press(ctx, b, map[string]any{"key": "Delete", "code": "Delete", "windowsVirtualKeyCode": 46})
	}
	return b.page.pipe.call(ctx, b.page.session, "Input.insertText", map[string]any{"text": p.in.Text}, nil)
}

func (p *plan) enter(ctx context.Context, b *browser) error {
	return p.press(ctx, b, map[string]any{"key": "Enter", "code": "Enter", "text": "\r", "windowsVirtualKeyCode": 13})
}

func (p *plan) press(ctx context.Context, b *browser, key map[string]any) error {
	var errs []error
	for _, kind := range []string{"keyDown", "keyUp"} {
		key["type"] = kind
		errs = append(errs, b.page.pipe.call(ctx, b.page.session, "Input.dispatchKeyEvent", key, nil))
	}
	return errors.Join(errs...)
}
