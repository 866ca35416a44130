package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// maxMessage bounds one message of the browser, in bytes: a screenshot is the
// longest that is asked for.
const maxMessage = 64 << 20

// errGone is the error of whatever is asked of a browser that has ended.
var errGone = errors.New("the browser has ended; browser_open starts another")

// pipe speaks the DevTools protocol over the two pipes of a browser: messages in
// JSON, each with a zero byte after it. No port is open for it, on which others
// could speak to the browser too.
type pipe struct {
	writing sync.Mutex
	w       io.Writer

	// event is called for each event, by the one goroutine that reads. It must not
	// wait for an answer.
	event func(session, method string, params json.RawMessage)

	mu      sync.Mutex
	last    int64
	waiting map[int64]chan answer
	err     error
	ended   chan struct{}
}

type answer struct {
	result json.RawMessage
	err    error
}

// message is one of either side.
type message struct {
	ID        int64           `json:"id,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    json.RawMessage `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *Refusal        `json:"error,omitempty"`
}

// Refusal is what the browser says against a command.
type Refusal struct {
	Method  string `json:"-"`
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *Refusal) Error() string {
	return fmt.Sprintf("the browser refuses %s: %s", e.Method, e.Message)
}

func newPipe(w io.Writer) *pipe {
	return &pipe{w: w, waiting: map[int64]chan answer{}, ended: make(chan struct{})}
}

// read takes messages until the browser ends.
func (p *pipe) read(from io.Reader) {
	r := bufio.NewReaderSize(from, 64<<10)
	for {
		line, err := readMessage(r)
		var m message
		if err == nil {
			err = json.Unmarshal(line, &m)
		}
		if err != nil {
			p.end(err)
			return
		}
		if m.ID == 0 {
			p.event(m.SessionID, m.Method, m.Params)
			continue
		}
		p.mu.Lock()
		to := p.waiting[m.ID]
		delete(p.waiting, m.ID)
		p.mu.Unlock()
		if to != nil {
			a := answer{result: m.Result}
			if m.Error != nil {
				a.err = m.Error
			}
			to <- a
		}
	}
}

// readMessage reads up to a zero byte.
func readMessage(r *bufio.Reader) ([]byte, error) {
	var all []byte
	for {
		piece, err := r.ReadSlice(0)
		if len(all)+len(piece) > maxMessage {
			return nil, fmt.Errorf("a message of the browser has more than %d bytes", maxMessage)
		}
		all = append(all, piece...)
		switch {
		case err == nil:
			return all[:len(all)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// end tells all who wait that nothing comes any more.
func (p *pipe) end(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return
	}
	p.err = err
	close(p.ended)
}

// call sends a command and waits for its answer. into may be nil.
func (p *pipe) call(ctx context.Context, session, method string, params, into any) error {
	answered := make(chan answer, 1)
	id, err := p.send(session, method, params, answered)
	if err != nil {
		return err
	}
	select {
	case a := <-answered:
		if refused := (*Refusal)(nil); errors.As(a.err, &refused) {
			refused.Method = method
		}
		if a.err != nil || into == nil {
			return a.err
		}
		return json.Unmarshal(a.result, into)
	case <-p.ended:
		return errGone
	case <-ctx.Done():
		p.mu.Lock()
		delete(p.waiting, id)
		p.mu.Unlock()
		return ctx.Err()
	}
}

// post sends a command and does not wait: what reads events may use it.
func (p *pipe) post(session, method string, params any) { _, _ = p.send(session, method, params, nil) }

func (p *pipe) send(session, method string, params any, answered chan answer) (int64, error) {
	m := message{SessionID: session, Method: method}
	var err error
	if params != nil {
		if m.Params, err = json.Marshal(params); err != nil {
			return 0, err
		}
	}
	p.mu.Lock()
	if p.err != nil {
		p.mu.Unlock()
		return 0, errGone
	}
	p.last++
	m.ID = p.last
	if answered != nil {
		p.waiting[m.ID] = answered
	}
	p.mu.Unlock()
	line, err := json.Marshal(m)
	if err != nil {
		return 0, err
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	if _, err := p.w.Write(append(line, 0)); err != nil {
		return 0, errGone
	}
	return m.ID, nil
}
