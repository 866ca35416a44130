package host_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rosterrun/roster/model/script"
)

// BenchmarkStreamTurn is one text turn in a new session over loopback, read to
// the end of its stream, with the store in memory and a model that answers at
// once. Client and server share the process.
func BenchmarkStreamTurn(b *testing.B) { benchmarkTurn(b, "/stream") }

// BenchmarkChatTurn is the same turn with one answer in place of a stream.
func BenchmarkChatTurn(b *testing.B) { benchmarkTurn(b, "/chat") }

func benchmarkTurn(b *testing.B, path string) {
	s := openSite(b, siteOptions{model: (&script.Script{
		Replies: []script.Reply{{Text: "The answer is forty-two, as it always was and will be.", Usage: &script.Usage{Input: 100, Output: 12}}}, Loop: true,
	}).Model("fake/text")})
	times := make([]time.Duration, 0, 1<<16)
	turn := func() {
		res, err := s.http.Post(s.url+path, "application/json", strings.NewReader(hello))
		if err != nil {
			b.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			b.Fatal(res.Status)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			b.Fatal(err)
		}
	}
	turn()
	b.ReportAllocs()
	before := cpu()
	for b.Loop() {
		begun := time.Now()
		turn()
		times = append(times, time.Since(begun))
	}
	used := cpu() - before
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(used.Microseconds())/float64(b.N), "cpu-µs/op")
}

// cpu is the time that this process has spent on processors.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail for oneself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkHealth is what HTTP itself takes.
func BenchmarkHealth(b *testing.B) {
	s := openSite(b, siteOptions{})
	b.ReportAllocs()
	for b.Loop() {
		res, err := s.http.Get(s.url + "/health")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			b.Fatal(err)
		}
		res.Body.Close()
	}
}
