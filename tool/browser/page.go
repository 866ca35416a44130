package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool/web"
)

const (
	maxNotes    = 16                      // of one call
	maxRequests = 1000                    // that are counted
	rest        = 1500 * time.Millisecond // a page that has loaded has to come to rest
	still       = 150 * time.Millisecond  // without a request is rest
	begins      = 300 * time.Millisecond  // a page has to begin to leave after a click
)

// page is the one page of a browser. What the browser says of it comes in by see,
// which one goroutine calls.
type page struct {
	proxy *proxy
	pipe  *pipe

	session, target, frame, context string

	mu        sync.Mutex
	changed   chan struct{}      // closed at each change below, and made anew
	permit    *permission.Engine // of the call that is, or was last, at work
	permitted func(string) bool  // what that call may open
	url       string             // of the document that is shown; empty: none
	loader    string             // of that document
	loaded    bool               // all of it, as far as it says
	requests  map[string]bool    // that have not been answered
	leaving   bool               // another document has been asked for
	world     int64              // where our own scripts run, apart from the page's; 0: none
	elements  []element          // as the page was last read
	notes     []string
	crashed   bool
}

// element is something of the page that can be clicked or filled.
type element struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	Href string `json:"href"` // where it leads, or what its form is sent to
	Form bool   `json:"form"` // a question mark and more may come after Href
}

func newPage(p *proxy) *page {
	return &page{proxy: p, changed: make(chan struct{}), requests: map[string]bool{}}
}

// attach makes the page: in a context of its own, whose cookies are never written.
func (p *page) attach(ctx context.Context, to *pipe) error {
	p.pipe = to
	var made struct {
		Context string `json:"browserContextId"`
		Target  string `json:"targetId"`
		Session string `json:"sessionId"`
	}
	if err := to.call(ctx, "", "Target.createBrowserContext", map[string]any{"disposeOnDetach": true}, &made); err != nil {
		return err
	}
	p.context = made.Context
	if err := to.call(ctx, "", "Browser.setDownloadBehavior", map[string]any{"behavior": "deny", "browserContextId": made.Context, "eventsEnabled": true}, nil); err != nil {
		return err
	}
	if err := to.call(ctx, "", "Target.setDiscoverTargets", map[string]any{"discover": true}, nil); err != nil {
		return err
	}
	return p.renew(ctx)
}

// renew makes an empty page in the place of the one that there was.
func (p *page) renew(ctx context.Context) error {
	var made struct {
		Target  string `json:"targetId"`
		Session string `json:"sessionId"`
	}
	p.mu.Lock()
	old := p.target
	p.target = "" // so that the next is not taken for a window that a page has opened
	p.mu.Unlock()
	if old != "" {
		p.pipe.post("", "Target.closeTarget", map[string]any{"targetId": old})
	}
	if err := p.pipe.call(ctx, "", "Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": p.context}, &made); err != nil {
		return err
	}
	if err := p.pipe.call(ctx, "", "Target.attachToTarget", map[string]any{"targetId": made.Target, "flatten": true}, &made); err != nil {
		return err
	}
	p.mu.Lock()
	p.target, p.session, p.frame = made.Target, made.Session, made.Target
	p.url, p.loader, p.world, p.elements, p.crashed, p.leaving = "", "", 0, nil, false, false
	p.mu.Unlock()
	for _, c := range []struct {
		method string
		params map[string]any
	}{
		{"Fetch.enable", map[string]any{"handleAuthRequests": true, "patterns": []any{map[string]any{"urlPattern": "*"}}}},
		{"Target.setAutoAttach", map[string]any{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true}},
		{"Page.enable", nil},
		{"Page.setLifecycleEventsEnabled", map[string]any{"enabled": true}},
		{"Network.enable", map[string]any{"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}},
		{"Network.setBypassServiceWorker", map[string]any{"bypass": true}},
		{"Inspector.enable", nil},
	} {
		if err := p.pipe.call(ctx, p.session, c.method, c.params, nil); err != nil {
			return err
		}
	}
	return nil
}

// begin says for which call the page is at work from here on.
func (p *page) begin(permit *permission.Engine, permitted func(string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.permit, p.permitted, p.notes = permit, permitted, nil
}

// see takes in what the browser says.
func (p *page) see(session, method string, params json.RawMessage) {
	switch method {
	case "Fetch.requestPaused":
		p.judge(session, params)
		return
	case "Fetch.authRequired":
		p.authenticate(session, params)
		return
	case "Target.attachedToTarget":
		p.adopt(params)
		return
	case "Target.targetCreated":
		p.window(params)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if session != "" && session != p.session {
		return
	}
	if p.hear(method, params) {
		close(p.changed)
		p.changed = make(chan struct{})
	}
}

// told is what events of a page have.
type told struct {
	FrameID   string `json:"frameId"`
	RequestID string `json:"requestId"`
	LoaderID  string `json:"loaderId"`
	Name      string `json:"name"`
	URL       string `json:"url"`
	Type      string `json:"type"`
	Message   string `json:"message"`
	Frame     struct {
		ID       string `json:"id"`
		ParentID string `json:"parentId"`
		LoaderID string `json:"loaderId"`
		URL      string `json:"url"`
	} `json:"frame"`
	SuggestedFilename string `json:"suggestedFilename"`
}

// hear takes in an event of the page, and says whether it matters to who waits. The
// caller holds mu.
func (p *page) hear(method string, params json.RawMessage) bool {
	var t told
	if json.Unmarshal(params, &t) != nil {
		return false
	}
	switch method {
	case "Page.frameNavigated":
		if t.Frame.ID != p.frame {
			return false
		}
		p.url, p.loader, p.world, p.elements, p.leaving = t.Frame.URL, t.Frame.LoaderID, 0, nil, false
		p.loaded = false
		clear(p.requests)
	case "Page.navigatedWithinDocument":
		if t.FrameID == p.frame {
			p.url = t.URL
		}
	case "Page.lifecycleEvent":
		if t.FrameID != p.frame || t.LoaderID != p.loader {
			return false
		}
		p.loaded = p.loaded || t.Name == "load"
	case "Network.requestWillBeSent":
		if len(p.requests) < maxRequests {
			p.requests[t.RequestID] = true
		}
	case "Network.loadingFinished", "Network.loadingFailed":
		delete(p.requests, t.RequestID)
	case "Page.frameStartedNavigating", "Page.frameRequestedNavigation":
		if t.FrameID != p.frame {
			return false
		}
		p.leaving = true
	case "Page.frameStoppedLoading":
		if t.FrameID == p.frame { // also where it was stopped on its way
			p.leaving, p.loaded = false, true
		}
	case "Page.javascriptDialogOpening":
		p.note("the page said (%s): %q", t.Type, clip(t.Message, 300))
		// It is let leave, and told no to whatever it asks.
		p.pipe.post(p.session, "Page.handleJavaScriptDialog", map[string]any{"accept": t.Type == "beforeunload" || t.Type == "alert"})
	case "Browser.downloadWillBegin":
		p.note("it offered the file %q for download, which was refused; webfetch can get %s", clip(t.SuggestedFilename, 100), clip(t.URL, 300))
		p.leaving = false
	case "Inspector.targetCrashed":
		p.crashed = true
	default:
		return false
	}
	return true
}

// note adds to what the call's result says. The caller holds mu.
func (p *page) note(format string, args ...any) {
	if text := web.Clean(fmt.Sprintf(format, args...)); len(p.notes) < maxNotes && !slices.Contains(p.notes, text) {
		p.notes = append(p.notes, text)
	}
}

func clip(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n]) + " …"
	}
	return text
}

// until waits for a condition, which is tested with mu held, up to the time. It
// says whether it came.
func (p *page) until(ctx context.Context, most time.Duration, holds func() bool) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	for {
		p.mu.Lock()
		ok, changed := holds(), p.changed
		p.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-changed:
		case <-p.pipe.ended:
			return false
		case <-timer.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// settle waits until the page has loaded and has come to rest, up to the time. It
// says whether it has loaded.
func (p *page) settle(ctx context.Context, most time.Duration) bool {
	deadline := time.Now().Add(most)
	loaded := func() bool { return p.crashed || p.loaded && !p.leaving }
	if !p.until(ctx, most, loaded) {
		return false
	}
	resting := time.Now().Add(min(rest, time.Until(deadline)))
	for time.Now().Before(resting) {
		if p.until(ctx, time.Until(resting), func() bool { return p.crashed || len(p.requests) == 0 }) &&
			!p.until(ctx, still, func() bool { return p.crashed || p.leaving || len(p.requests) > 0 }) {
			break
		}
	}
	return p.until(ctx, time.Until(deadline), loaded) // it may have led on
}

var errCrashed = errors.New("the page has crashed; open it again, or another")

// navigate opens an address.
func (p *page) navigate(ctx context.Context, u *url.URL, most time.Duration) (loaded bool, err error) {
	began := time.Now()
	p.proxy.begin()
	p.mu.Lock()
	p.leaving, p.crashed = false, false
	p.mu.Unlock()
	var got struct {
		Loader string `json:"loaderId"`
		Error  string `json:"errorText"`
		File   bool   `json:"isDownload"`
	}
	limited, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	err = p.pipe.call(limited, p.session, "Page.navigate", map[string]any{"url": u.String()}, &got)
	switch {
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		return false, fmt.Errorf("%s did not come within %v", u, most)
	case err != nil:
		return false, err
	case got.Error != "":
		return false, p.failed(u, got.Error)
	}
	p.until(limited, most, func() bool { return p.crashed || p.loader == got.Loader || got.Loader == "" })
	return p.settle(ctx, max(most-time.Since(began), rest)), nil
}

// aborted is what the browser says of a page that it was told not to load.
const aborted = "net::ERR_ABORTED"

// failed says in plain words why a page did not come.
func (p *page) failed(u *url.URL, code string) error {
	if err := p.proxy.reason(u); err != nil {
		return err
	}
	var notes []string
	p.until(context.Background(), begins, func() bool { // what it was refused for may be said a moment later
		notes = slices.Clone(p.notes)
		return len(notes) > 0 || code != aborted
	})
	if err := p.proxy.refusal(); err != nil && len(notes) == 0 {
		notes = []string{err.Error()}
	}
	if len(notes) > 0 {
		return fmt.Errorf("%s did not come: %s", u, strings.Join(notes, "; "))
	}
	return fmt.Errorf("%s did not come: %s", u, strings.TrimPrefix(code, "net::"))
}
