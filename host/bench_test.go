package host_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/identity/audit"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/store/memory"
)

// BenchmarkStreamTurn is one text turn in a new session over loopback, read to
// the end of its stream, with the store in memory and a model that answers at
// once. Client and server share the process.
func BenchmarkStreamTurn(b *testing.B) { benchmarkTurn(b, "/stream", hello) }

// BenchmarkChatTurn is the same turn with one answer in place of a stream.
func BenchmarkChatTurn(b *testing.B) { benchmarkTurn(b, "/chat", hello) }

// BenchmarkCompletionTurn is the same turn, streamed to a client of OpenAI's protocol.
func BenchmarkCompletionTurn(b *testing.B) {
	benchmarkTurn(b, "/v1/chat/completions", strings.Replace(hi, "{", `{"stream":true,`, 1))
}

// BenchmarkChatTurnAudited is the turn of /chat, noted in the audit log.
func BenchmarkChatTurnAudited(b *testing.B) {
	store := memory.New(memory.Options{})
	defer store.Close()
	log := audit.NewLog(func(context.Context) (audit.Store, error) { return store, nil }, slog.New(slog.DiscardHandler))
	defer log.Close()
	benchmarkTurn(b, "/chat", hello, func(d *host.Deps) { d.Audit = log })
}

func benchmarkTurn(b *testing.B, path, body string, change ...func(*host.Deps)) {
	s := openSite(b, siteOptions{change: func(d *host.Deps) {
		for _, c := range change {
			c(d)
		}
	}, model: (&script.Script{
		Replies: []script.Reply{{Text: "The answer is forty-two, as it always was and will be.", Usage: &script.Usage{Input: 100, Output: 12}}}, Loop: true,
	}).Model("fake/text")})
	times := make([]time.Duration, 0, 1<<16)
	turn := func() {
		res, err := s.http.Post(s.url+path, "application/json", strings.NewReader(body))
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
	user, system := times()
	return user + system
}

// times is cpu by itself and by the kernel for it.
func times() (user, system time.Duration) {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail for oneself
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
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
