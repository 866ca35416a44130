package session

import (
	"slices"
	"testing"
	"time"
)

// asks is a turn whose two calls both have to be asked for, and that waits.
// Events are a second apart, from second 100 on.
func asks(expires time.Time) []Body {
	fetch, push := []Subject{{"bash", "git fetch", ""}}, []Subject{{"bash", "git $(x)", ""}}
	return append(slices.Clone(toolTurn[:8]),
		&PermissionAsked{Ask: "s.1", Call: "c1", Tool: "bash", Needs: fetch, Grantable: true, Expires: expires},
		&PermissionAsked{Ask: "s.2", Call: "c2", Tool: "bash", Needs: push},
		&LoopWaiting{Asks: []string{"s.1", "s.2"}, Until: expires},
	)
}

func answer(ask string, a Answer) *PermissionResolved {
	return &PermissionResolved{Ask: ask, Answer: a}
}

func TestWaitingAgrees(t *testing.T) {
	waits := asks(time.Time{})
	then := func(more ...Body) []Body { return append(slices.Clone(waits), more...) }
	for _, c := range []struct {
		name     string
		bodies   []Body
		runnable bool
		status   Status
	}{
		{"asked, the other calls still run", waits[:10], true, Running},
		{"waits", waits, false, Waiting},
		{"a steering message does not answer", then(&Steer{}), false, Waiting},
		{"nor does a follow-up or a prompt", then(&Followup{}, &Prompt{}), false, Waiting},
		{"one of two is answered", then(answer("s.1", AnswerOnce)), true, Running},
		{"something else is answered", then(answer("s.9", AnswerOnce)), true, Running},
		{"answered, and waits on", then(answer("s.1", AnswerOnce), &LoopResumed{}, &LoopWaiting{}), false, Waiting},
		{"taken up", then(&LoopResumed{}), true, Running},
		{"cancelled", then(&Cancel{}), true, Running},
		{"ended", then(&Cancel{}, &LoopEnd{Reason: ReasonCancelled}), false, Idle},
	} {
		t.Run(c.name, func(t *testing.T) {
			st, sum := fold(t, c.bodies...)
			if st.Root.Runnable() != c.runnable || sum.Runnable() != c.runnable || sum.Status() != c.status {
				t.Errorf("state %v, summary %v %s; want %v %s", st.Root.Runnable(), sum.Runnable(), sum.Status(), c.runnable, c.status)
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	soon := time.Unix(111, 0) // the first event after it waits
	for _, c := range []struct {
		name    string
		expires time.Time
		then    []Body
		want    Answer // to the first question
		grants  []Grant
	}{
		{"none", time.Time{}, nil, "", nil},
		{"to another question", time.Time{}, []Body{answer("s.2", AnswerOnce)}, "", nil},
		{"once", time.Time{}, []Body{answer("s.1", AnswerOnce)}, AnswerOnce, nil},
		{"the first counts", time.Time{}, []Body{answer("s.1", AnswerNo), answer("s.1", AnswerSession)}, AnswerNo, nil},
		{"for the session", time.Time{}, []Body{answer("s.1", AnswerSession)}, AnswerSession, []Grant{{"p", Subject{"bash", "git fetch", ""}, "allow"}}},
		{"for the session, where it cannot be granted", time.Time{}, []Body{answer("s.2", AnswerSession)}, "", nil},
		{"never in the session", time.Time{}, []Body{&PermissionResolved{Ask: "s.1", Answer: AnswerNo, ForSession: true}}, AnswerNo, []Grant{{"p", Subject{"bash", "git fetch", ""}, "deny"}}},
		{"always is kept elsewhere", time.Time{}, []Body{answer("s.1", AnswerAlways)}, AnswerAlways, nil},
		{"too late", soon, []Body{answer("s.1", AnswerSession)}, AnswerTimeout, nil},
		{"before the question is known", time.Time{}, []Body{answer("s.3", AnswerOnce), &PermissionAsked{Ask: "s.3", Call: "c1"}}, "", nil},
		{"asked anew, answered of old", time.Time{}, []Body{&PermissionAsked{Ask: "s.3", Call: "c1"}, answer("s.1", AnswerOnce)}, "", nil},
		{"asked anew after an answer", time.Time{}, []Body{answer("s.1", AnswerOnce), &PermissionAsked{Ask: "s.3", Call: "c1"}}, "", nil},
		{"to the new question", time.Time{}, []Body{&PermissionAsked{Ask: "s.3", Call: "c1"}, answer("s.3", AnswerOnce)}, AnswerOnce, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			st, _ := fold(t, append(asks(c.expires), c.then...)...)
			var got Answer
			if a := st.Root.Loop.Calls[0].Answer; a != nil {
				got = a.Answer
			}
			if got != c.want || !slices.Equal(st.Grants, c.grants) {
				t.Errorf("answer %q, grants %v; want %q, %v", got, st.Grants, c.want, c.grants)
			}
		})
	}
}

func TestWaitingIsNotActiveTime(t *testing.T) {
	st, _ := fold(t, append(asks(time.Time{}), &Steer{}, &Steer{}, answer("s.1", AnswerOnce), &LoopResumed{}, &TurnStart{})...)
	// From loop.start, in second 102, to loop.waiting in 110, and from
	// loop.resumed in 114 to turn.start in 115.
	if got := st.Root.Loop.Active; got != 9*time.Second {
		t.Errorf("active %v, want 9s", got)
	}
}

func TestAskID(t *testing.T) {
	for id, ok := range map[string]bool{
		AskID("s", 1): true, AskID("0197a1f4", 12): true,
		"": false, "s": false, "s.": false, ".1": false, "s.0": false, "s.-1": false, "s.01": false, "s.1.2": true, "s.+1": false,
	} {
		stream, n, got := ParseAskID(id)
		if got != ok || ok && AskID(stream, n) != id {
			t.Errorf("ParseAskID(%q) = %q, %d, %v", id, stream, n, got)
		}
	}
}
