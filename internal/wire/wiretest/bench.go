package wiretest

import (
	"bytes"
	"context"
	"io"
	"iter"
	"syscall"
	"testing"
	"time"

	"github.com/rosterrun/roster/model"
)

// BenchReadOnly reads the bytes of a streamed answer and nothing more. What an
// adapter takes is measured against it.
func BenchReadOnly(b *testing.B, body []byte, recorded string) {
	client, url := Client(b), StartProcess(b, recorded)
	measure(b, func() {
		resp, err := client.Post(url, "application/json", bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			b.Fatal(err)
		}
		resp.Body.Close()
	})
}

// BenchStream makes calls whose answers have that many deltas.
func BenchStream(b *testing.B, deltas int, call func(context.Context) iter.Seq2[model.Chunk, error]) {
	measure(b, func() {
		n := 0
		for c, err := range call(b.Context()) {
			if err != nil {
				b.Fatal(err)
			}
			if c.Text != "" {
				n++
			}
		}
		if n != deltas {
			b.Fatalf("%d deltas, want %d", n, deltas)
		}
	})
}

// measure runs f and reports the CPU time of this process, its garbage collector
// included.
func measure(b *testing.B, f func()) {
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
