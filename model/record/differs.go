package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

// excerpt is how many bytes of a message are shown around a difference.
const excerpt = 80

// differs explains why no recorded call answers the request: it compares it
// with the recorded conversation that has the longest beginning in common.
func (r *Replayer) differs(q *model.Request) *model.Error {
	_, wires, err := extend(sum{}, q.Messages)
	if err != nil {
		return &model.Error{Kind: model.BadRequest, Model: r.name, Err: err}
	}
	var best []json.RawMessage
	line, common := 0, -1
	for _, c := range r.rec.calls {
		if !c.answers() {
			continue
		}
		msgs := r.rec.conversation(c)
		if n := commonPrefix(wires, msgs); n > common || n == common && len(best) == n && len(msgs) > n {
			best, line, common = msgs, c.N, n
		}
	}
	e := &model.Error{Kind: model.BadRequest, Model: r.name, Remedy: "record the run again"}
	at := fmt.Sprintf("%s:%d", r.rec.path, line)
	switch {
	case common == len(wires) && common == len(best):
		// The bytes agree but the digests do not: what was recorded had a secret.
		e.Message = fmt.Sprintf("%s has this conversation with a secret that was redacted", at)
	case common == len(best):
		e.Kind = model.Exhausted
		last := len(wires) - 1
		e.Message = fmt.Sprintf("the recording %s ends with the answer to message %d, and this conversation goes on to message %d: %s",
			r.rec.path, common, last+1, show(q.Messages[last], wires[last], 0))
	case common == len(wires):
		e.Message = fmt.Sprintf("%s asks the model only at message %d, and this conversation asks at message %d", at, len(best), len(wires))
	default:
		d := firstDifference(wires[common], best[common])
		e.Message = fmt.Sprintf("message %d differs: it is %s, and %s has %s",
			common+1, show(q.Messages[common], wires[common], d), at, around(best[common], d))
	}
	return e
}

func commonPrefix(a, b []json.RawMessage) int {
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			return i
		}
	}
	return min(len(a), len(b))
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func show(m *message.Message, wire []byte, at int) string {
	return string(m.Role) + " " + around(wire, at)
}

// around cuts out the bytes near a place, on the bounds of characters.
func around(b []byte, at int) string {
	from, to := max(0, at-excerpt/2), min(len(b), at+excerpt/2)
	for from > 0 && !utf8.RuneStart(b[from]) {
		from--
	}
	for to < len(b) && !utf8.RuneStart(b[to]) {
		to++
	}
	s := string(b[from:to])
	if from > 0 {
		s = "…" + s
	}
	if to < len(b) {
		s += "…"
	}
	return "`" + s + "`"
}
