package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// chaosPlan is what one run of the chaos test is to do: the answers of its model
// and those of the agents that it gives work to.
type chaosPlan struct {
	name string
	root []chaosReply
	kids [][]chaosReply
}

// chaosReply is one answer of a model. Without calls it is the last one.
type chaosReply struct {
	calls []chaosCall
	busy  bool // the provider refuses the first attempt
	delay int  // in ms
}

// chaosCall is a tool call, and what tells it from all others of the run.
type chaosCall struct{ tool, mark string }

// chaosNotes is how many messages are sent to a run beside its prompt, at most:
// each may ask for one more answer.
const chaosNotes = 3

// newChaosPlan makes a run of 6 to 12 turns. All of them write lines to a file
// and end with a text; the n-th says whether somebody is asked for permission or
// for an answer, and how many children there are.
func newChaosPlan(n int) *chaosPlan {
	p := &chaosPlan{name: fmt.Sprint("r", n)}
	turns := 6 + rand.IntN(7)
	for turn := range turns - 1 {
		var more []chaosCall
		switch turn {
		case turns - 4:
			for kid := range n % 3 {
				more = append(more, chaosCall{"task", fmt.Sprintf("%s-k%d", p.name, kid)})
				p.kids = append(p.kids, p.kid(kid, n%4 == 1))
			}
		case turns - 3:
			if n%2 == 0 {
				more = append(more, chaosCall{"bash", "ask-" + p.name})
			}
		case turns - 5:
			if n%2 == 1 {
				more = append(more, chaosCall{"ask_user", "which-" + p.name})
			}
		}
		p.root = append(p.root, p.reply(fmt.Sprintf("t%d", turn), 1+rand.IntN(2), more...))
	}
	return p
}

func (p *chaosPlan) kid(kid int, asks bool) []chaosReply {
	var list []chaosReply
	for turn := range 2 + rand.IntN(3) {
		var more []chaosCall
		if asks && turn == 1 {
			more = []chaosCall{{"bash", fmt.Sprintf("ask-%s-k%d", p.name, kid)}}
		}
		list = append(list, p.reply(fmt.Sprintf("k%dt%d", kid, turn), 1, more...))
	}
	return list
}

// reply is an answer with some lines to write and more to do, now and then with
// a file to read, and with a pause that a flush of the log may or may not come
// into.
func (p *chaosPlan) reply(mark string, lines int, more ...chaosCall) chaosReply {
	r := chaosReply{busy: rand.IntN(6) == 0, delay: rand.IntN(40)}
	for i := range lines {
		r.calls = append(r.calls, chaosCall{"bash", fmt.Sprintf("line-%s-%s-%d", p.name, mark, i)})
	}
	r.calls = append(r.calls, more...)
	if rand.IntN(3) == 0 {
		r.calls = append(r.calls, chaosCall{"read", "notes-" + mark})
	}
	return r
}

func (c chaosCall) yaml(run string) string {
	switch c.tool {
	case "bash":
		return fmt.Sprintf(`{name: bash, input: {command: "echo %s >> %s.lines"}}`, c.mark, run)
	case "read":
		return fmt.Sprintf(`{name: read, input: {path: "%s.txt"}}`, c.mark)
	case "task":
		return fmt.Sprintf(`{name: task, input: {profile: "%s", prompt: "Work."}}`, c.mark)
	}
	return fmt.Sprintf(`{name: ask_user, input: {question: "%s"}}`, c.mark)
}

// chaosMark finds the mark of a call in its input.
func chaosMark(tool, command, path, profile, question string) string {
	switch tool {
	case "bash":
		return strings.Fields(command + " - -")[1]
	case "read":
		return strings.TrimSuffix(path, ".txt")
	case "task":
		return profile
	}
	return question
}

// script writes the answers down, with further ones for messages that come in.
func (p *chaosPlan) script(replies []chaosReply) string {
	var b strings.Builder
	b.WriteString("replies:\n")
	for _, r := range replies {
		if r.busy {
			b.WriteString("  - error: {status: 529, retry-after: 20ms}\n")
		}
		var calls []string
		for _, c := range r.calls {
			calls = append(calls, c.yaml(p.name))
		}
		fmt.Fprintf(&b, "  - {delay: %dms, text: on, tools: [%s]}\n", r.delay, strings.Join(calls, ", "))
	}
	for range 2 + 2*chaosNotes {
		b.WriteString("  - {delay: 5ms, text: done}\n")
	}
	return b.String()
}

// write writes the scripts, the profiles of the children and what is read.
func (p *chaosPlan) write(w *workspace) {
	for _, replies := range append([][]chaosReply{p.root}, p.kids...) {
		for _, r := range replies {
			if last := r.calls[len(r.calls)-1]; last.tool == "read" {
				w.write(last.mark+".txt", "Notes.\n")
			}
		}
	}
	w.write(p.name+".yaml", p.script(p.root))
	for i, kid := range p.kids {
		name := fmt.Sprintf("%s-k%d", p.name, i)
		w.write(name+".yaml", p.script(kid))
		w.write("profiles/"+name+".md", fmt.Sprintf("---\ndescription: Works.\nmode: subagent\nmodel: \"script:%s/%s.yaml\"\n%s---\nWork.\n", w.dir, name, chaosKeys))
	}
}

// chaosKeys are what all agents of the test may do.
const chaosKeys = `tools: [bash, read, task, ask_user]
permission: {write: allow, bash: {"*": allow, "echo ask*": ask}}
retry: {base: 10ms, cap: 50ms}
`
