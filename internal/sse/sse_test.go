package sse

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

type event struct{ Name, ID, Data string }

func readAll(r *Reader) ([]event, error) {
	var all []event
	for {
		ev, err := r.Next()
		if err != nil {
			return all, err
		}
		all = append(all, event{string(ev.Name), string(ev.ID), string(ev.Data)})
	}
}

func TestReader(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for _, c := range []struct {
		name, in string
		want     []event
	}{
		{"nothing", "", nil},
		{"one", "data: a\n\n", []event{{"", "", "a"}}},
		{"all fields", "event: e\nid: 7\ndata: a\nretry: 5\n\n", []event{{"e", "7", "a"}}},
		{"fields do not last", "event: e\nid: 7\ndata: a\n\ndata: b\n\n", []event{{"e", "7", "a"}, {"", "", "b"}}},
		{"an event without data is none", "event: e\n\ndata: a\n\n", []event{{"", "", "a"}}},
		{"several data lines", "data: a\ndata:\ndata: b\n\n", []event{{"", "", "a\n\nb"}}},
		{"empty data", "data:\n\n", []event{{"", "", ""}}},
		{"a field without a colon", "data\n\n", []event{{"", "", ""}}},
		{"one space is dropped", "data:  a\n\ndata:b\n\n", []event{{"", "", " a"}, {"", "", "b"}}},
		{"carriage returns", "event: e\r\ndata: a\r\n\r\n", []event{{"e", "", "a"}}},
		{"comments", ": ping\n\n:\ndata: a\n: more\n\n", []event{{"", "", "a"}}},
		{"a byte order mark", "\xef\xbb\xbfdata: a\n\n", []event{{"", "", "a"}}},
		{"no blank line at the end", "data: a\n", []event{{"", "", "a"}}},
		{"half a line at the end", "data: a\n\ndata: b", []event{{"", "", "a"}}},
		{"longer than the buffer", "data: " + long + "\n\ndata: b\n\n", []event{{"", "", long}, {"", "", "b"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, in := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
				got, err := readAll(NewReader(in, 1<<20))
				if err != io.EOF {
					t.Errorf("error %v, want EOF", err)
				}
				if d := cmp.Diff(c.want, got); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

func TestReaderBounds(t *testing.T) {
	for _, c := range []struct{ name, in string }{
		{"one line", "data: " + strings.Repeat("x", 10_000) + "\n\n"},
		{"a line without end", strings.Repeat("x", 10_000)},
		{"many lines", strings.Repeat("data: some more\n", 1000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readAll(NewReader(strings.NewReader(c.in), 5000))
			var long *TooLong
			if !errors.As(err, &long) || long.Max != 5000 {
				t.Errorf("error %v, want *TooLong of 5000", err)
			}
		})
	}
}

func TestReaderPassesErrorsOn(t *testing.T) {
	broken := errors.New("broken")
	got, err := readAll(NewReader(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)), 100))
	if err != broken || len(got) != 1 {
		t.Errorf("got %v and %v, want one event and the error", got, err)
	}
}

func TestStray(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"a stream", ": hi\nevent: e\ndata: a\n\n", ""},
		{"a cut stream", "data: a", ""},
		{"text", "Bad gateway\nmore\n", "Bad gateway"},
		{"text without an end", "Bad gateway", "Bad gateway"},
		{"long", strings.Repeat("y", 500) + "\n", strings.Repeat("y", strayLen)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewReader(strings.NewReader(c.in), 1000)
			_, _ = readAll(r)
			if got := string(r.Stray()); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// FuzzReader compares the reader with the rules of the format written down
// plainly, over the whole input at once.
func FuzzReader(f *testing.F) {
	for _, s := range []string{
		"data: a\n\n", "event: e\r\ndata: a\ndata: b\n\n", ":c\n\nid: 1\ndata\n", "\xef\xbb\xbfdata:x\n\ndata: y",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := readAll(NewReader(bytes.NewReader(in), len(in)+1))
		if err != io.EOF {
			t.Fatalf("error %v", err)
		}
		if d := cmp.Diff(plainly(string(in)), got); d != "" {
			t.Error(d)
		}
	})
}

func plainly(in string) []event {
	in = strings.TrimPrefix(in, "\xef\xbb\xbf")
	lines := strings.Split(in, "\n")
	lines[len(lines)-1] = "" // without its end it is no line; it ends the last event
	var all []event
	var ev event
	var data []string
	for _, l := range lines {
		l = strings.TrimSuffix(l, "\r")
		name, value, _ := strings.Cut(l, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case l == "" && data != nil:
			ev.Data = strings.Join(data, "\n")
			all = append(all, ev)
			fallthrough
		case l == "":
			ev, data = event{}, nil
		case name == "data":
			data = append(data, value)
		case name == "event":
			ev.Name = value
		case name == "id":
			ev.ID = value
		}
	}
	return all
}

// TestLastID: an id without data counts once its event is whole.
func TestLastID(t *testing.T) {
	r := NewReader(strings.NewReader("id: a\n\nid: b\ndata: x\n\n: ping\n\nid: c\n\nid: d\n"), 100)
	if _, err := r.Next(); err != nil || string(r.LastID()) != "b" {
		t.Errorf("%q, %v", r.LastID(), err)
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) || string(r.LastID()) != "c" {
		t.Errorf("%q, %v", r.LastID(), err)
	}
}
