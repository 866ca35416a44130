package strand

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return start.Add(d) }

func paths(ts []*touch) (out []string) {
	for _, t := range ts {
		out = append(out, t.path)
	}
	return out
}

func (q *quiet) expect(t *testing.T, now time.Time, want ...string) {
	t.Helper()
	if got := paths(q.ready(now)); !slices.Equal(got, want) {
		t.Errorf("at %v: %q, want %q", now.Sub(start), got, want)
	}
}

const ms = time.Millisecond

func TestQuietBeginsAnew(t *testing.T) {
	d := &Dir{o: Options{Debounce: 100 * ms}}
	q := newQuiet(10)
	q.touch(d, "a", at(0))
	q.touch(d, "b", at(10*ms))
	q.touch(d, "a", at(90*ms))
	q.expect(t, at(109*ms))
	q.expect(t, at(110*ms), "b")
	q.expect(t, at(189*ms))
	q.expect(t, at(190*ms), "a")
	if _, ok := q.next(); ok || len(q.known) != 0 {
		t.Error("something is left")
	}
}

func TestQuietWaitsAMinuteAtMost(t *testing.T) {
	d := &Dir{o: Options{Debounce: 100 * ms}}
	q := newQuiet(10)
	for now := time.Duration(0); now < time.Minute; now += 50 * ms {
		q.expect(t, at(now))
		q.touch(d, "a", at(now))
	}
	q.expect(t, at(time.Minute), "a")
	q.touch(d, "a", at(time.Minute)) // it begins again
	q.expect(t, at(time.Minute+99*ms))
	q.expect(t, at(time.Minute+100*ms), "a")
}

func TestQuietOfEachDir(t *testing.T) {
	quick, slow := &Dir{o: Options{Debounce: 10 * ms}}, &Dir{o: Options{Debounce: 200 * ms}}
	q := newQuiet(10)
	q.touch(slow, "s", at(0))
	q.touch(quick, "q", at(5*ms))
	if due, ok := q.next(); !ok || !due.Equal(at(15*ms)) {
		t.Errorf("next is %v", due)
	}
	q.expect(t, at(15*ms), "q")
	q.touch(quick, "q", at(20*ms))
	q.forget(quick)
	q.expect(t, at(time.Second), "s")
}

// TestQuietIsBounded: too many paths become a look at their folders, which is not put
// off by what comes then.
func TestQuietIsBounded(t *testing.T) {
	one, two := &Dir{o: Options{Debounce: 100 * ms}}, &Dir{o: Options{Debounce: 100 * ms}}
	q := newQuiet(10)
	q.touch(two, "x", at(0))
	for i := range 1000 {
		q.touch(one, fmt.Sprint(i), at(time.Duration(i)*ms/100))
	}
	if len(q.queue) > 10+2 {
		t.Errorf("%d wait", len(q.queue))
	}
	var asked []*Dir
	for _, due := range q.ready(at(100*ms + ms)) {
		if due.path == "" {
			asked = append(asked, due.dir)
		}
	}
	if len(asked) != 2 || asked[0] == asked[1] {
		t.Errorf("%d folders are to be looked at", len(asked))
	}
}
