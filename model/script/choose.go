package script

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/internal/offline"
)

// place is where a conversation stands in the script: what follows from the
// first n messages of a request. It is immutable once it is kept.
type place struct {
	first, last *message.Message // of those n
	n           int
	answers     int    // assistant messages among them
	size        int    // bytes of their text
	used        []bool // by reply; nil when no reply has a condition
}

const (
	// keepFrom is the number of messages from which a place is worth keeping;
	// shorter conversations are counted faster than looked up.
	keepFrom = 16
	// keptPlaces bounds the conversations whose place is kept. Two that share a
	// slot cost each other a recount, nothing else.
	keptPlaces = 128
)

// places remembers the place of recent conversations, so that a call costs
// what is new in its request and not the length of the conversation. A kept
// place counts only if the request has the same message at the same position;
// as a message has one parent, all before it is the same then too.
type places [keptPlaces]atomic.Pointer[place]

func (ps *places) slot(first *message.Message, seed maphash.Seed) *atomic.Pointer[place] {
	return &ps[maphash.Comparable(seed, first)%keptPlaces]
}

// locate returns the place after all messages.
func (m *scripted) locate(msgs []*message.Message) place {
	var p place
	if len(msgs) < keepFrom {
		m.advance(&p, msgs)
		return p
	}
	slot := m.places.slot(msgs[0], m.seed)
	if k := slot.Load(); k != nil && k.first == msgs[0] && k.n <= len(msgs) && msgs[k.n-1] == k.last {
		p = *k
		p.used = append([]bool(nil), k.used...)
	}
	m.advance(&p, msgs)
	kept := p
	kept.used = append([]bool(nil), p.used...)
	slot.Store(&kept)
	return p
}

func (m *scripted) advance(p *place, msgs []*message.Message) {
	for i := p.n; i < len(msgs); i++ {
		if m.conditional { // what the answers that were taken out followed is not known
			for range msgs[i].Stands {
				m.choose(p, nil)
			}
			if msgs[i].Role == message.Assistant {
				m.choose(p, msgs[:i])
			}
		}
		p.answers += msgs[i].Answers()
		p.size += offline.Size(msgs[i].Parts)
	}
	p.n = len(msgs)
	if p.n > 0 {
		p.first, p.last = msgs[0], msgs[p.n-1]
	}
}

// choice is what a script has for one turn: failures for the first attempts,
// then the answer. answer is -1 if there is none.
type choice struct {
	failures []int
	answer   int
}

// next returns the choice for the turn after p.
func (m *scripted) next(p *place, msgs []*message.Message) choice {
	if m.conditional {
		return m.choose(p, msgs)
	}
	n := p.answers
	switch {
	case len(m.turns) == 0:
		return choice{m.rest, -1}
	case n < len(m.turns):
		return m.turns[n]
	case !m.script.Loop && n == len(m.turns):
		return choice{m.rest, -1}
	case !m.script.Loop:
		return choice{nil, -1}
	}
	c := m.turns[n%len(m.turns)]
	if n%len(m.turns) == 0 && len(m.rest) > 0 {
		c.failures = append(m.rest[:len(m.rest):len(m.rest)], c.failures...)
	}
	return c
}

// choose picks by condition and marks what it picks as used. msgs are the
// messages before the answer.
func (m *scripted) choose(p *place, msgs []*message.Message) choice {
	if p.used == nil {
		p.used = make([]bool, len(m.script.Replies))
	}
	c := choice{answer: -1}
	c.answer = m.pick(p.used, msgs, &c.failures)
	if c.answer < 0 && m.script.Loop {
		clear(p.used)
		c.answer = m.pick(p.used, msgs, &c.failures)
	}
	return c
}

// aside returns the choice for what is asked aside. Its replies are not used up.
func (m *scripted) aside(r *model.Request) choice {
	c := choice{answer: -1}
	for i := range m.script.Replies {
		reply := &m.script.Replies[i]
		if w := reply.When; w.For != r.For || !strings.Contains(r.Tail, w.Contains) && !holds(w, r.Messages) {
			continue
		}
		if reply.Error == nil {
			c.answer = i
			break
		}
		c.failures = append(c.failures, i)
	}
	return c
}

func (m *scripted) pick(used []bool, msgs []*message.Message, failures *[]int) int {
	for i := range m.script.Replies {
		r := &m.script.Replies[i]
		if used[i] || r.When.For != "" || !holds(r.When, msgs) {
			continue
		}
		used[i] = true
		if r.Error == nil {
			return i
		}
		*failures = append(*failures, i)
	}
	return -1
}

// holds looks at the messages after the last answer.
func holds(w When, msgs []*message.Message) bool {
	if w.Contains == "" {
		return true
	}
	for i := len(msgs) - 1; i >= 0 && msgs[i].Role != message.Assistant; i-- {
		if msgs[i].Role != message.Extension && contains(msgs[i].Parts, w.Contains) {
			return true
		}
	}
	return false
}

func contains(parts []message.Part, s string) bool {
	for _, p := range parts {
		switch p := p.(type) {
		case message.Text:
			if strings.Contains(p.Text, s) {
				return true
			}
		case message.ToolResult:
			if contains(p.Parts, s) {
				return true
			}
		}
	}
	return false
}
