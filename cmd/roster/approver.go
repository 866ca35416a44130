package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/session"
)

// approver watches a run for what has to be allowed. Where somebody is at the
// terminal he is asked; otherwise the run is over for now.
type approver struct {
	cli      *cli
	at       conversations
	key      session.Key
	attended bool
	leave    func() // ends the watch of the run

	question *shownQuestion // on the terminal now
	left     bool           // the person has left it open
}

// attended says whether somebody is there to answer, at this terminal.
func (c *cli) attended() bool { return terminal(c.stdin) && terminal(c.stderr) && !c.json }

// see looks at the next event, and says whether the run waits and nobody here is
// asked.
func (p *approver) see(ctx context.Context, e *session.Event) (waits bool, err error) {
	switch {
	case e.Type == "loop.waiting" && e.Depth == 0:
		return p.wait(ctx)
	case e.Type == "permission.resolved" || e.Type == "input.answered" || e.Type == "cancel":
		return false, p.resume(ctx)
	case (e.Type == "loop.resumed" || e.Type == "loop.end") && e.Depth == 0:
		p.dismiss()
	}
	return false, nil
}

// wait asks the first of what the run waits for.
func (p *approver) wait(ctx context.Context) (waits bool, err error) {
	if sum, err := summary(ctx, p.at, p.key); err != nil || !sum.Suspended {
		return false, err // somebody has answered meanwhile
	}
	if !p.attended {
		return true, nil
	}
	list, err := p.at.Approvals(ctx, p.key)
	if err != nil || len(list) == 0 {
		return false, err
	}
	p.dismiss()
	p.question, err = p.ask(ctx, list[0])
	return err != nil, nil
}

// resume goes on with a run that waits no more. Nobody else does, unless it is
// a server's.
func (p *approver) resume(ctx context.Context) error {
	if err := p.at.Resume(ctx, p.key); err != nil && !errors.Is(err, session.ErrNoWork) {
		return err
	}
	return nil
}

// dismiss takes the question off the terminal, if there is one.
func (p *approver) dismiss() {
	if p.question != nil {
		p.question.close()
		p.question = nil
	}
}

// shownQuestion waits for a line from the terminal.
type shownQuestion struct {
	tty  *os.File
	done sync.WaitGroup
}

// ask shows a question, and answers it in the background. Without a terminal of
// its own the program cannot take the question off again: that is an error.
func (p *approver) ask(ctx context.Context, a roster.Approval) (*shownQuestion, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDONLY, 0)
	if err == nil {
		err = tty.SetReadDeadline(time.Time{})
	}
	if err != nil {
		if tty != nil {
			tty.Close()
		}
		return nil, err
	}
	q := &shownQuestion{tty: tty}
	render.Approval(p.cli.stderr, p.cli.style(p.cli.stderr), &a)
	q.done.Go(func() { p.read(ctx, tty, a) })
	return q, nil
}

func (q *shownQuestion) close() {
	_ = q.tty.SetReadDeadline(time.Unix(1, 0))
	q.done.Wait()
	q.tty.Close()
}

// read takes lines until one is an answer.
func (p *approver) read(ctx context.Context, tty *os.File, a roster.Approval) {
	lines := bufio.NewReader(tty)
	for {
		fmt.Fprint(p.cli.stderr, "> ")
		line, err := lines.ReadString('\n')
		if errors.Is(err, os.ErrDeadlineExceeded) {
			fmt.Fprintln(p.cli.stderr)
			return
		}
		if err != nil { // the person has closed the terminal
			p.left = true
			p.leave()
			return
		}
		answer, hint := answerTo(&a, line)
		if hint != "" {
			fmt.Fprintln(p.cli.stderr, "roster: "+hint)
			continue
		}
		answer.By = roster.LocalTenant
		_, err = p.at.Answer(ctx, p.key.Tenant, a.ID, answer)
		if refused := (*roster.AnswerError)(nil); errors.As(err, &refused) {
			fmt.Fprintf(p.cli.stderr, "roster: %v\n", err)
			continue
		}
		if err != nil && ctx.Err() == nil {
			fmt.Fprintf(p.cli.stderr, "roster: %v\n", err)
		}
		return // the event of the answer, whoever's it is, brings the run on
	}
}

// answerTo reads what a person types to a question, of whichever kind; hint says
// what may be typed if that is no answer.
func answerTo(a *roster.Approval, line string) (answer roster.Answer, hint string) {
	if a.Question != "" {
		return replyOf(a.Options, line)
	}
	answer, ok := answerOf(line)
	if !ok {
		hint = "answer y (once), s (session), a (always), n (no) or never; a reason may follow a no"
	}
	return answer, hint
}

// replyOf reads the answer to a question of ask_user.
func replyOf(options []string, line string) (answer roster.Answer, hint string) {
	text := strings.TrimSpace(line)
	if word, rest, _ := strings.Cut(text, " "); word == "/no" {
		return roster.Answer{Answer: session.AnswerNo, Message: strings.TrimSpace(rest)}, ""
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(options) {
		text = options[n-1]
	}
	if text == "" {
		return answer, "type an answer, or /no to give none"
	}
	return roster.Answer{Answer: session.AnswerText, Text: text}, ""
}

// answerOf reads what a person types. What follows a no is told to the model.
func answerOf(line string) (a roster.Answer, ok bool) {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(word) {
	case "y", "yes", "once":
		a.Answer = session.AnswerOnce
	case "s", "session":
		a.Answer = session.AnswerSession
	case "a", "always":
		a.Answer = session.AnswerAlways
	case "n", "no":
		a.Answer, a.Message = session.AnswerNo, rest
		return a, true
	case "never":
		a.Answer, a.ForSession, a.Message = session.AnswerNo, true, rest
		return a, true
	}
	return a, a.Answer != "" && rest == ""
}
