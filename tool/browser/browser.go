// Package browser has the tools that use a browser: browser_open, browser_read,
// browser_click, browser_fill and browser_screenshot. The browser is a Chromium of
// the machine, without a window and with a profile of its own that is gone after
// the run. Whatever a page loads goes through a proxy of this process, which
// reaches what webfetch reaches and nothing else.
package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/rosterrun/roster/internal/reach"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/contract"
	"github.com/rosterrun/roster/tool/web"
)

// The names of the tools.
const (
	OpenName       = "browser_open"
	ReadName       = "browser_read"
	ClickName      = "browser_click"
	FillName       = "browser_fill"
	ScreenshotName = "browser_screenshot"
)

const (
	startTime   = 20 * time.Second // a browser may take to start
	commandTime = 8 * time.Second  // a page may take to do what it is told
	askTime     = 15 * time.Minute // a page is kept while a person is asked
	maxSize     = 512 << 20        // that max-size may be
	maxTimeout  = 5 * time.Minute  // that a page may be waited for
	maxOpen     = 16               // browsers of one program
)

// Options say which browser there is and how it is started.
type Options struct {
	// Program is the browser's file, absolute; empty: Missing says why there is
	// none, and the tools are not offered.
	Program, Missing string
	// Allow names what may be reached though it is private (web.Reach).
	Allow []string
	// Exec and Hold are as in tool.Env.
	Exec []string
	Hold *os.File
	// Settings are those of browser_open.
	Settings json.RawMessage
	// Set has the browsers that are open.
	Set *Set
}

// Kit has the tools, with the settings of one profile. It is safe for concurrent use.
type Kit struct {
	opts    Options
	timeout time.Duration
	maxSize int // bytes
	guard   *reach.Guard
}

// Set has the browsers that the runs of a program have open. It is safe for
// concurrent use, and its zero value is empty.
type Set struct {
	mu   sync.Mutex
	open map[Run]*browser
	over bool
}

// Run is whose a browser is.
type Run struct {
	Key     session.Key
	Session string
}

// New makes the kit. The error is one of its settings or of what is allowed.
func New(o Options) (*Kit, error) {
	k := &Kit{opts: o}
	err := contract.Read(OpenName, o.Settings, contract.Into{"timeout": &k.timeout, "max-size": &k.maxSize})
	if err == nil && k.maxSize > maxSize {
		err = &tool.SettingError{Tool: OpenName, Key: "max-size", Problem: fmt.Sprintf("%d is more than %d bytes, the most that a page may load", k.maxSize, maxSize)}
	}
	if err == nil && k.timeout > maxTimeout {
		err = &tool.SettingError{Tool: OpenName, Key: "timeout", Problem: fmt.Sprintf("%v is more than the maximum, which is %v", k.timeout, maxTimeout)}
	}
	if err != nil {
		return nil, err
	}
	k.guard, err = web.Reach{Allow: o.Allow}.Guard()
	return k, err
}

// Open starts a browser for a run, or takes up the one that was kept while a person
// was asked.
func (k *Kit) Open(ctx context.Context, r Run) (io.Closer, error) {
	if b := k.opts.Set.of(r); b != nil {
		if b.resume() {
			return b, nil
		}
		b.end() // it has ended by itself
	}
	if n := k.opts.Set.size(); n >= maxOpen {
		return nil, fmt.Errorf("%d browsers are open already, the most that there may be: try again later", n)
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	b, err := k.start(ctx, r)
	if err != nil {
		return nil, err
	}
	if !k.opts.Set.put(r, b) {
		b.end()
		return nil, errGone
	}
	return b, nil
}

// of is the browser that a run has open; nil: none.
func (s *Set) of(r Run) *browser {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[r]
}

func (s *Set) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

func (s *Set) put(r Run, b *browser) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	if s.open == nil {
		s.open = map[Run]*browser{}
	}
	s.open[r] = b
	return true
}

func (s *Set) remove(b *browser) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[b.run] == b {
		delete(s.open, b.run)
	}
}

// Close ends all browsers, also those that are kept, and no more can be opened.
func (s *Set) Close() {
	s.mu.Lock()
	s.over = true
	all := slices.Collect(maps.Values(s.open))
	s.mu.Unlock()
	for _, b := range all {
		b.end()
	}
}

// browser is one that runs, with its one page.
type browser struct {
	kit *Kit
	run Run
	*launched
	proxy *proxy
	page  *page

	mu    sync.Mutex
	asked bool        // somebody is asked about a call, and may say yes
	keep  *time.Timer // ends it when nobody has answered; nil: it is in use
	over  bool
}

func (k *Kit) start(ctx context.Context, r Run) (*browser, error) {
	proxy, err := newProxy(k.guard, int64(k.maxSize))
	if err != nil {
		return nil, err
	}
	b := &browser{kit: k, run: r, proxy: proxy}
	b.page = newPage(proxy)
	if b.launched, err = k.opts.launch(proxy.addr(), b.page.see); err != nil {
		proxy.close()
		return nil, fmt.Errorf("the browser cannot be started: %w", err)
	}
	if err := b.page.attach(ctx, b.pipe); err != nil {
		b.launched.close()
		proxy.close()
		if ran := b.ran; ran != nil && !errors.Is(ran, context.Canceled) {
			err = ran
		}
		return nil, fmt.Errorf("the browser %s does not start: %w%s", k.opts.Program, err, quoted(b.stderr.String()))
	}
	return b, nil
}

func quoted(said string) string {
	if said == "" {
		return ""
	}
	return "; it said:\n" + web.Clean(said)
}

// Close ends the browser with its run, or keeps it while a person is asked about a
// call of it.
func (b *browser) Close() error {
	b.mu.Lock()
	if b.asked && !b.over {
		b.asked = false
		b.keep = time.AfterFunc(askTime, b.end)
		b.mu.Unlock()
		return nil
	}
	b.mu.Unlock()
	b.end()
	return nil
}

// resume takes up a browser that was kept, and says whether it is there still.
func (b *browser) resume() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.keep != nil {
		b.keep.Stop()
		b.keep = nil
	}
	b.asked = false
	return !b.over && !b.gone()
}

// ask says whether a person is asked about a call that is about to be judged.
func (b *browser) ask(yes bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = yes
}

func (b *browser) end() {
	b.mu.Lock()
	if b.over {
		b.mu.Unlock()
		return
	}
	b.over = true
	if b.keep != nil {
		b.keep.Stop()
	}
	b.mu.Unlock()
	b.kit.opts.Set.remove(b)
	b.launched.close()
	b.proxy.close()
}

// gone says that the browser has ended by itself.
func (l *launched) gone() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

// opened is the browser of a run, started if need be.
func opened(ctx context.Context, c tool.Call) (*browser, error) {
	if c.Opened == nil {
		return nil, errors.New("no browser can be opened here")
	}
	x, err := c.Opened(ctx)
	if err != nil {
		return nil, err
	}
	b, ok := x.(*browser)
	if !ok {
		return nil, errors.New("no browser can be opened here")
	}
	return b, nil
}
