package wiretest

import (
	"bytes"
	"io"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

// recorded is the answer that benchmarks stream, and how many deltas it has.
const (
	recorded = "20-deltas.sse"
	deltas   = 20
)

// BenchReadOnly reads the bytes of a streamed answer and nothing more. What an
// adapter takes is measured against it.
func BenchReadOnly(b *testing.B, m model.Renderer) {
	body, err := m.Render(Request(Text(message.User, "hi")))
	if err != nil {
		b.Fatal(err)
	}
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

// BenchStream20 makes calls whose answers have 20 deltas.
func BenchStream20(b *testing.B, at func(url string) model.Model) {
	m, r := at(StartProcess(b, recorded)), Request(Text(message.User, "hi"))
	measure(b, func() {
		n := 0
		for c, err := range m.Stream(b.Context(), r) {
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

// BenchBody puts a turn's body together when all but one message were sent
// before.
func BenchBody(b *testing.B, body func(*model.Request) error) {
	for _, n := range []int{10, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			r := Request()
			for i := range n {
				r.Messages = append(r.Messages, Text([]message.Role{message.User, message.Assistant}[i%2], "some words"))
			}
			b.ReportAllocs()
			for b.Loop() {
				r.Messages[n-1] = Text(message.User, "new words")
				if err := body(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
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
