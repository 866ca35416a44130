package browser

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
)

// eval runs a script of ours in the page, in a world that the page's own scripts
// cannot reach.
func (p *page) eval(ctx context.Context, source string, into any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, commandTime, errHangs)
	defer cancel()
	for {
		err := p.evalOnce(ctx, source, into)
		if refused := (*Refusal)(nil); errors.As(err, &refused) && refused.Code == noContext && ctx.Err() == nil {
			p.mu.Lock()
			p.world = 0 // the page has gone on to another document
			p.mu.Unlock()
			continue
		}
		if err != nil {
			return p.hung(ctx, err)
		}
		return nil
	}
}

// noContext is the code for a world that is gone with its document.
const noContext = -32000

func (p *page) evalOnce(ctx context.Context, source string, into any) error {
	world, err := p.ownWorld(ctx)
	if err != nil {
		return err
	}
	var got struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	err = p.pipe.call(ctx, p.session, "Runtime.evaluate", map[string]any{
		"expression": source, "contextId": world, "returnByValue": true, "timeout": commandTime.Milliseconds(),
	}, &got)
	switch {
	case err != nil:
		return err
	case got.Exception != nil:
		return fmt.Errorf("the page cannot be read: %s %s", got.Exception.Text, clip(got.Exception.Exception.Description, 200))
	}
	return json.Unmarshal(got.Result.Value, into)
}

var errHangs = errors.New("the page is busy with itself and does not answer; open it again, or another")

// hung puts an empty page in the place of one that does not answer.
func (p *page) hung(ctx context.Context, err error) error {
	if context.Cause(ctx) != errHangs {
		return err
	}
	fresh, cancel := context.WithTimeout(context.WithoutCancel(ctx), commandTime)
	defer cancel()
	if err := p.renew(fresh); err != nil {
		return err
	}
	return errHangs
}

func (p *page) ownWorld(ctx context.Context) (int64, error) {
	p.mu.Lock()
	world, loader, crashed := p.world, p.loader, p.crashed
	p.mu.Unlock()
	if crashed {
		return 0, errCrashed
	}
	if world != 0 {
		return world, nil
	}
	var made struct {
		Context int64 `json:"executionContextId"`
	}
	if err := p.pipe.call(ctx, p.session, "Page.createIsolatedWorld", map[string]any{"frameId": p.frame, "worldName": "roster"}, &made); err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.loader == loader {
		p.world = made.Context
	}
	return made.Context, nil
}

// screenshot gives the page as it is seen, as a PNG or, where that is large, a JPEG.
func (p *page) screenshot(ctx context.Context, whole bool) (mediaType string, data []byte, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, commandTime, errHangs)
	defer cancel()
	for _, format := range []string{"png", "jpeg"} {
		params := map[string]any{"format": format}
		if format == "jpeg" {
			params["quality"] = 70
		}
		if whole {
			var m struct {
				Size struct {
					Width, Height float64
				} `json:"cssContentSize"`
			}
			if err := p.pipe.call(ctx, p.session, "Page.getLayoutMetrics", nil, &m); err != nil {
				return "", nil, p.hung(ctx, err)
			}
			params["captureBeyondViewport"] = true
			params["clip"] = map[string]any{"x": 0, "y": 0, "scale": 1, "width": min(max(m.Size.Width, 1), 1920), "height": min(max(m.Size.Height, 1), 8000)}
		}
		var got struct {
			Data string `json:"data"`
		}
		if err := p.pipe.call(ctx, p.session, "Page.captureScreenshot", params, &got); err != nil {
			return "", nil, p.hung(ctx, err)
		}
		if data, err = base64.StdEncoding.DecodeString(got.Data); err != nil {
			return "", nil, err
		}
		if mediaType = "image/" + format; len(data) <= maxPNG {
			break
		}
	}
	if len(data) > maxImage {
		return "", nil, fmt.Errorf("the picture has %d bytes, which is too large to look at", len(data))
	}
	return mediaType, data, nil
}

const (
	maxPNG   = 1 << 20 // bytes, over which a JPEG is made
	maxImage = 5 << 20 // bytes, what providers take
)
