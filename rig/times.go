package rig

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones are known on machines that have none

	"github.com/robfig/cron/v3"
)

// Schedule is the times at which a knot runs without a file.
type Schedule struct {
	Text string // as written
	spec cron.Schedule
}

func (s *Schedule) next(after time.Time) time.Time { return s.spec.Next(after) }

// ParseSchedule reads a schedule of cron, of five fields: minute, hour, day of the month,
// month and day of the week; or @hourly, @daily, @weekly, @monthly, @yearly or
// "@every 90m", of at least a minute.
func ParseSchedule(text string) (*Schedule, error) {
	text = strings.TrimSpace(text)
	if strings.Contains(text, "TZ=") {
		return nil, errors.New("it names a zone: write it under time-zone")
	}
	spec, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor).Parse(text)
	if err != nil {
		return nil, err
	}
	if every, ok := spec.(cron.ConstantDelaySchedule); ok && every.Delay < time.Minute {
		return nil, fmt.Errorf("it is due every %s, more often than once a minute", every.Delay)
	}
	if from := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC); spec.Next(from).IsZero() {
		return nil, errors.New("it is never due")
	}
	return &Schedule{Text: text, spec: spec}, nil
}

// Window is a part of the day in which no job of a knot begins. One that ends before it
// begins goes on into the next day.
type Window struct {
	Text     string  // as written
	Days     [7]bool // on which it begins, from Sunday
	From, To int     // minutes after midnight; To may be 24 hours, and is not in it
}

// days are as time.Weekday counts them.
var days = [...]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// ParseWindow reads a window: 22:00-07:00, "Sat Sun 00:00-24:00" or
// "Mon-Fri 12:00-13:00". Without days it is on all of them.
func ParseWindow(text string) (w Window, err error) {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return w, errors.New("there is nothing")
	}
	w.Text = strings.Join(fields, " ")
	last := len(fields) - 1
	if w.From, w.To, err = parseHours(fields[last]); err != nil {
		return w, err
	}
	for _, f := range fields[:last] {
		if err := w.addDays(f); err != nil {
			return w, err
		}
	}
	if last == 0 {
		w.Days = [7]bool{true, true, true, true, true, true, true}
	}
	return w, nil
}

func (w *Window) addDays(text string) error {
	first, end, isRange := strings.Cut(strings.ToLower(text), "-")
	if !isRange {
		end = first
	}
	from, to := weekday(first), weekday(end)
	if from < 0 || to < 0 {
		return fmt.Errorf("%q is no day or range of days, such as Sat or Mon-Fri", text)
	}
	for d := from; ; d = (d + 1) % 7 {
		w.Days[d] = true
		if d == to {
			return nil
		}
	}
}

func weekday(text string) int {
	for i, d := range days {
		if text == d || text == strings.ToLower(time.Weekday(i).String()) {
			return i
		}
	}
	return -1
}

const day = 24 * 60 // minutes

func parseHours(text string) (from, to int, err error) {
	first, end, ok := strings.Cut(text, "-")
	from, good := parseClock(first)
	to, fine := parseClock(end)
	switch {
	case !ok || !good || !fine || from == day:
		return 0, 0, fmt.Errorf("%q is no time of the day, such as 22:00-07:00", text)
	case from == to:
		return 0, 0, fmt.Errorf("%q ends when it begins; a whole day is 00:00-24:00", text)
	}
	return from, to, nil
}

func parseClock(text string) (minutes int, ok bool) {
	h, m, ok := strings.Cut(text, ":")
	hours, err := strconv.ParseUint(h, 10, 8)
	mins, err2 := strconv.ParseUint(m, 10, 8)
	minutes = int(hours)*60 + int(mins)
	return minutes, ok && err == nil && err2 == nil && len(h) <= 2 && len(m) == 2 && mins < 60 && minutes <= day
}

// contains gives the end of the window that a time lies in.
func (w *Window) contains(t time.Time) (end time.Time, ok bool) {
	now := t.Hour()*60 + t.Minute()
	today, yesterday := t.Weekday(), (t.Weekday()+6)%7
	over := w.To <= w.From // into the next day
	switch {
	case w.Days[today] && now >= w.From && over:
		return clock(t, 1, w.To), true
	case w.Days[today] && now >= w.From && now < w.To:
		return clock(t, 0, w.To), true
	case over && w.Days[yesterday] && now < w.To:
		return clock(t, 0, w.To), true
	}
	return end, false
}

// clock is a time of the day, some days after that of t.
func clock(t time.Time, daysLater, minutes int) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day()+daysLater, 0, minutes, 0, 0, t.Location())
}

// MaxWindows is how many quiet hours a knot has at most.
const MaxWindows = 50

// quiet gives the end of the quiet hours that a time lies in, those included that begin
// when others end; zero: it lies in none. Hours that never end are those of a week.
func quiet(windows []Window, t time.Time) (end time.Time) {
	for week := t.AddDate(0, 0, 7); t.Before(week); {
		next := t
		for i := range windows {
			if e, ok := windows[i].contains(t); ok && e.After(next) {
				next = e
			}
		}
		if !next.After(t) {
			return end
		}
		t, end = next, next
	}
	return end
}

// always says whether the windows leave no time of the week.
func always(windows []Window) bool {
	from := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	return quiet(windows, from).Sub(from) >= 7*24*time.Hour
}
