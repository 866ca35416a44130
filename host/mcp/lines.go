package mcp

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/rosterrun/roster/internal/jsonlines"
)

const maxLine = 16 << 20 // bytes of one message that comes in by lines

func newLines(in io.ReadCloser, out io.Writer) *jsonlines.Lines {
	return jsonlines.New(in, out, jsonlines.Options{Max: maxLine, Message: messages})
}

// messages says whether a line is a message or a batch of them, and how many ask
// for an answer.
func messages(line []byte) (m jsonlines.Message, ok bool) {
	if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("[")) {
		m.Requests, ok = request(line)
		return m, ok
	}
	var batch []json.RawMessage
	if json.Unmarshal(line, &batch) != nil || len(batch) == 0 {
		return m, false
	}
	for _, text := range batch {
		n, ok := request(text)
		if !ok {
			return m, false
		}
		m.Requests += n
	}
	return m, true
}

func request(text []byte) (n int, ok bool) {
	m, err := jsonrpc.DecodeMessage(text)
	if r, is := m.(*jsonrpc.Request); is && err == nil && r.IsCall() {
		return 1, true
	}
	return 0, err == nil
}

// open is a writer that stays open.
type open struct{ io.Writer }

func (open) Close() error { return nil }
