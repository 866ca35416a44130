package rig

import (
	"testing"
	"time"
)

func TestSchedule(t *testing.T) {
	k := valid(t, "agent-profile-ref: fast\nschedule: 30 9 * * Mon-Fri\ntime-zone: Europe/Berlin")
	for _, c := range []struct{ after, next string }{
		{"2026-03-27T09:00:00Z", "2026-03-30T07:30:00Z"}, // over a weekend, and into summer time
		{"2026-03-27T08:29:59Z", "2026-03-27T08:30:00Z"},
		{"2026-03-27T08:30:00Z", "2026-03-30T07:30:00Z"},
	} {
		if got := k.Next(at(t, c.after)).UTC().Format(time.RFC3339); got != c.next {
			t.Errorf("after %s: %s", c.after, got)
		}
	}
	every := valid(t, "agent-profile-ref: fast\nschedule: '@every 90m'\ntime-zone: UTC")
	if got := every.Next(at(t, "2026-03-27T09:00:00Z")); !got.Equal(at(t, "2026-03-27T10:30:00Z")) {
		t.Error(got)
	}
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestQuiet: 2026-03-27 is a Friday, and on the 29th an hour is left out.
func TestQuiet(t *testing.T) {
	k := valid(t, "agent-profile-ref: fast\nstrand-dir: docs\ntime-zone: Europe/Berlin\nquiet-hours: ['22:00-07:00', 'Sat Sun 00:00-24:00', 'Fri-Fri 12:00-13:00']")
	for _, c := range []struct{ at, end string }{
		{"2026-03-26T20:59:59Z", ""},
		{"2026-03-26T21:00:00Z", "2026-03-27T06:00:00Z"},
		{"2026-03-27T05:59:59Z", "2026-03-27T06:00:00Z"},
		{"2026-03-27T06:00:00Z", ""},
		{"2026-03-27T11:30:00Z", "2026-03-27T12:00:00Z"},
		{"2026-03-26T11:30:00Z", ""},
		{"2026-03-27T22:00:00Z", "2026-03-30T05:00:00Z"}, // the night, the weekend, and the night behind it
	} {
		got := ""
		if end := k.Quiet(at(t, c.at)); !end.IsZero() {
			got = end.UTC().Format(time.RFC3339)
		}
		if got != c.end {
			t.Errorf("at %s: %q, not %q", c.at, got, c.end)
		}
	}
}

func TestWait(t *testing.T) {
	r := Retries{}
	r.Attempts.V, r.Backoff.V, r.MaxBackoff.V = 5, 2*time.Second, 10*time.Second
	for i, want := range []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second} {
		if got, ok := r.Wait(i + 1); got != want || !ok {
			t.Errorf("after %d: %s %v", i+1, got, ok)
		}
	}
	if _, ok := r.Wait(5); ok {
		t.Error("a sixth attempt")
	}
}
