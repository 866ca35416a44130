package wiretest

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/rosterrun/roster/model"
)

// Fuzz feeds anything as a stream, beginning with recorded ones: it ends, with
// a message or a typed error, and the pieces are the whole.
func (s Suite) Fuzz(f *testing.F, recorded ...string) {
	for _, name := range recorded {
		f.Add(Recorded(f, name))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m := s.New(Settings{URL: "http://localhost"}, &http.Client{Transport: answers(raw)})
		chunks, err := Collect(t.Context(), m, request())
		if err != nil {
			if model.AsError(err) == nil {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if len(chunks) == 0 || chunks[len(chunks)-1].Done == nil {
			t.Fatal("no message and no error")
		}
		var pieces []byte
		for _, c := range chunks {
			pieces = append(pieces, c.Text...)
		}
		whole := []byte(chunks[len(chunks)-1].Done.Text())
		slices.Sort(pieces) // blocks may come interleaved
		slices.Sort(whole)
		if string(pieces) != string(whole) {
			t.Errorf("pieces %q, whole %q", pieces, whole)
		}
	})
}

// answers is a provider without a network.
type answers []byte

func (a answers) RoundTrip(*http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	_, err := w.Write(a)
	r := w.Result()
	r.Header.Set("Content-Type", "text/event-stream")
	return r, err
}
