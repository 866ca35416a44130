package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/internal/offline"
)

// maxConversations bounds the conversations that are remembered. One that was
// forgotten is digested, and recorded, as a whole again.
const maxConversations = 1024

type sum = [sha256.Size]byte

// mark is how far a conversation is known.
type mark struct {
	last       *message.Message
	n          int // messages
	sum        sum // chained over them
	line       int // of the recording, that has them; 0 if none
	prefix     *model.Prefix
	prefixLine int
}

// marks remembers conversations by their first message, so that a call digests
// only what is new. As a message has one parent, all before it is the same when
// it stands at the same position. It is safe for concurrent use.
type marks struct {
	mu sync.Mutex
	m  map[*message.Message]mark
}

func (ms *marks) get(msgs []*message.Message) mark {
	if len(msgs) == 0 {
		return mark{}
	}
	ms.mu.Lock()
	defer ms.mu.Unlock()
	k := ms.m[msgs[0]]
	if k.n == 0 || k.n > len(msgs) || msgs[k.n-1] != k.last {
		return mark{}
	}
	return k
}

func (ms *marks) put(msgs []*message.Message, k mark) {
	if len(msgs) == 0 {
		return
	}
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if ms.m == nil || len(ms.m) >= maxConversations {
		ms.m = map[*message.Message]mark{}
	}
	k.n, k.last = len(msgs), msgs[len(msgs)-1]
	ms.m[msgs[0]] = k
}

// extend chains the digest over messages and returns their canonical forms.
// The inputs of tool calls are without insignificant space there, as they are
// in a recording.
func extend(s sum, msgs []*message.Message) (sum, []json.RawMessage, error) {
	wires := make([]json.RawMessage, len(msgs))
	for i, m := range msgs {
		w, err := offline.Message(m)
		if err != nil {
			return s, nil, err
		}
		var b bytes.Buffer
		if err := json.Compact(&b, w); err != nil {
			return s, nil, fmt.Errorf("message %s: %w", m.ID, err)
		}
		wires[i] = b.Bytes()
		s = sha256.Sum256(append(s[:], wires[i]...))
	}
	return s, wires, nil
}

// digest is that of the whole request, given its conversation's.
func digest(conversation sum, prefix, turn []byte) string {
	h := sha256.New()
	h.Write(conversation[:])
	h.Write(prefix)
	h.Write(turn)
	return hex.EncodeToString(h.Sum(nil))
}

func object(members []byte) json.RawMessage {
	return append(append([]byte{'{'}, members...), '}')
}

func prefixJSON(p *model.Prefix) json.RawMessage { return object(offline.AppendPrefix(nil, p)) }

func turnJSON(r *model.Request) json.RawMessage { return object(offline.AppendTurn(nil, r)) }
