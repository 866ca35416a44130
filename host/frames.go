package host

import (
	"bytes"
	"context"
	"math"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// stream is what a client sees of a session.
type stream struct {
	*sse
	frames frames
	crowd  *crowd
}

// newStream sends the head of the answer. Close must be called.
func (h *Host) newStream(w *response, k session.Key) (*stream, error) {
	w.Header().Set("X-Session-Id", k.Stream)
	s, err := h.newSSE(w)
	if err != nil {
		return nil, err
	}
	return &stream{s, frames{host: h, key: k}, h.join(k)}, nil
}

// Close ends the pings; nothing is written after it.
func (s *stream) Close() {
	s.sse.Close()
	s.host.leave(s.frames.key, s.crowd)
}

// show writes a batch of events.
func (s *stream) show(ctx context.Context, events []session.Event) error {
	return s.send(len(events), func(dst []byte, i int) []byte {
		e := &events[i]
		if !s.frames.sees(e) {
			return dst
		}
		return s.crowd.append(dst, e, func(dst []byte) []byte { return s.frames.append(ctx, dst, e) })
	})
}

// frames writes a session's events in the form in which a stream shows them.
type frames struct {
	host  *Host
	key   session.Key
	only  string            // the child whose events are shown, and of those below it; empty: all
	specs map[string]string // open loops → the digests of their specs
}

// sees takes up what is to be known of an event, and says whether it is shown.
func (f *frames) sees(e *session.Event) bool {
	switch e.Type {
	case "loop.start":
		if b, ok := body[*session.LoopStart](e); ok {
			f.know(e.Loop, b.Spec)
		}
	case "profile.switched":
		if b, ok := body[*session.Switched](e); ok {
			f.know(e.Loop, b.Spec)
		}
	case "loop.end":
		delete(f.specs, e.Loop)
	}
	return f.only == "" || session.Within(e.Session, f.only)
}

// append adds one event, and what follows from it.
func (f *frames) append(ctx context.Context, dst []byte, e *session.Event) []byte {
	if e.Seq == 0 {
		return appendLive(dst, e)
	}
	dst = appendStored(appendHead(dst, e.Type, e.Seq), e)
	switch e.Type {
	case "usage":
		if b, ok := body[*session.Usage](e); ok {
			dst = appendContextUsage(dst, e.Session, &b.Usage, f.window(ctx, e))
		}
	case "compaction":
		if b, ok := body[*session.Compaction](e); ok {
			dst = appendContextUsage(dst, e.Session, &message.Usage{Input: b.After}, f.window(ctx, e))
		}
	}
	return dst
}

// appendStored ends an event with the JSON of a stored one.
func appendStored(dst []byte, e *session.Event) []byte {
	from := len(dst)
	dst = e.AppendJSON(dst)
	if bytes.IndexByte(dst[from:], '\n') < 0 {
		return append(dst, "\n\n"...)
	}
	data := bytes.Clone(dst[from:])
	return appendData(dst[:from], data)
}

// body decodes an event of a known type.
func body[T session.Body](e *session.Event) (T, bool) {
	b, err := e.Decode()
	if err != nil {
		var none T
		return none, false
	}
	t, ok := b.(T)
	return t, ok
}

// appendLive writes {session, message, attempt, offset, text} and the like.
func appendLive(dst []byte, e *session.Event) []byte {
	dst = appendHead(dst, e.Type, 0)
	dst = append(dst, `{"session":`...)
	dst = message.AppendString(dst, e.Session)
	if e.Depth > 0 {
		dst = append(dst, `,"depth":`...)
		dst = strconv.AppendInt(dst, int64(e.Depth), 10)
	}
	n := len(dst)
	dst = e.Body.AppendJSON(dst)
	dst[n] = ',' // of the body's own brace
	return append(dst, "\n\n"...)
}

// appendContextUsage says how full the context of the last turn was: all that
// was sent, cached or not, over the window.
func appendContextUsage(dst []byte, id string, u *message.Usage, window int) []byte {
	sent := u.Input + u.CacheRead + u.CacheWrite
	pct := math.Round(float64(sent)*10000/float64(window)) / 100
	dst = append(dst, "event: context_usage\ndata: {\"session\":"...)
	dst = message.AppendString(dst, id)
	dst = append(dst, `,"inputTokens":`...)
	dst = strconv.AppendInt(dst, sent, 10)
	dst = append(dst, `,"outputTokens":`...)
	dst = strconv.AppendInt(dst, u.Output, 10)
	dst = append(dst, `,"budgetUsedPct":`...)
	dst = strconv.AppendFloat(dst, pct, 'f', -1, 64)
	return append(dst, "}\n\n"...)
}

func (f *frames) know(loop, spec string) {
	if f.specs == nil {
		f.specs = map[string]string{}
	}
	f.specs[loop] = spec
}

// window is the context window, in tokens, of the spec that the loop of an event
// runs by.
func (f *frames) window(ctx context.Context, e *session.Event) int {
	digest, ok := f.specs[e.Loop]
	if !ok { // the stream began in the middle of the loop
		digest = f.host.specOf(ctx, f.key, e)
		f.know(e.Loop, digest)
	}
	return f.host.window(ctx, f.key.Tenant, digest)
}

// specOf looks up in the log by which spec the loop of an event runs.
func (h *Host) specOf(ctx context.Context, k session.Key, of *session.Event) (spec string) {
	store, err := h.deps.Backend(ctx)
	if err != nil {
		return ""
	}
	for e, err := range store.Read(ctx, k, 0) {
		switch {
		case err != nil:
			return ""
		case e.Seq >= of.Seq:
			return spec
		case e.Loop != of.Loop:
		case e.Type == "loop.start":
			if b, ok := body[*session.LoopStart](&e); ok {
				spec = b.Spec
			}
		case e.Type == "profile.switched":
			if b, ok := body[*session.Switched](&e); ok {
				spec = b.Spec
			}
		}
	}
	return spec
}

// defaultWindow is the context window, in tokens, of a model whose own is not
// known.
const defaultWindow = 200_000

// windows remembers the context windows of specs by digest.
type windows struct {
	mu    sync.Mutex
	known map[string]int
}

const maxWindows = 1024

func (h *Host) window(ctx context.Context, tenant, digest string) int {
	if digest == "" {
		return defaultWindow
	}
	c := &h.windows
	c.mu.Lock()
	n := c.known[digest]
	c.mu.Unlock()
	if n > 0 {
		return n
	}
	n, err := h.readWindow(ctx, tenant, digest)
	if err != nil {
		h.deps.Log.Warn("the context window of a spec is not known; 200000 is shown", "spec", digest, "error", err)
		return defaultWindow
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxWindows {
		c.known = map[string]int{}
	}
	c.known[digest] = n
	return n
}

func (h *Host) readWindow(ctx context.Context, tenant, digest string) (int, error) {
	store, err := h.deps.Backend(ctx)
	if err != nil {
		return 0, err
	}
	data, err := store.Blob(ctx, tenant, digest)
	if err != nil {
		return 0, err
	}
	var spec struct {
		Model struct {
			ContextWindow int `json:"context_window"`
		} `json:"model"`
		Context struct {
			Window int `json:"window"`
		} `json:"context"`
	}
	if err := json.Unmarshal(data, &spec); err != nil {
		return 0, err
	}
	n, most := spec.Model.ContextWindow, spec.Context.Window
	if most > 0 && (n <= 0 || most < n) {
		n = most
	}
	if n <= 0 {
		n = defaultWindow
	}
	return n, nil
}
