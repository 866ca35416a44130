package host_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
)

// BenchmarkReaders is one turn of a session that so many read, over loopback; the
// readers are a process of their own. cpu-µs/turn is what the server takes, and
// the model and the store in it; system-µs/turn is the part of it that the kernel
// takes, mostly to write to each reader.
func BenchmarkReaders(b *testing.B) {
	for _, n := range []int{0, 1, 10, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchmarkReaders(b, n) })
	}
}

func benchmarkReaders(b *testing.B, readers int) {
	s := openSite(b, siteOptions{model: (&script.Script{
		Replies: []script.Reply{{Text: strings.Repeat("some words ", 10), Usage: &script.Usage{Input: 100, Output: 12}}}, Loop: true,
	}).Model("fake/text")})
	id := s.chat(hello).SessionID
	again := fmt.Sprintf(`{"message":"again","sessionId":%q}`, id)
	done := readElsewhere(b, s, "/sessions/"+id+"/events", readers)
	defer done()
	user, system := times()
	for b.Loop() {
		s.chat(again)
	}
	u, sys := times()
	b.ReportMetric(float64((u-user+sys-system).Microseconds())/float64(b.N), "cpu-µs/turn")
	b.ReportMetric(float64((sys-system).Microseconds())/float64(b.N), "system-µs/turn")
}

// readElsewhere has another process follow a stream with so many connections. It
// returns when all have begun.
func readElsewhere(b *testing.B, s *site, path string, n int) (done func()) {
	b.Helper()
	if n == 0 {
		return func() {}
	}
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), readEnv+"="+strings.TrimPrefix(s.url, "http://")+" "+path+" "+strconv.Itoa(n))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		b.Fatal(err)
	}
	return func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
}

// readEnv has the test program read streams: the address, the path, and how often.
const readEnv = "ROSTER_TEST_READ"

func readStreams(what string) error {
	var addr, path string
	var n int
	if _, err := fmt.Sscan(what, &addr, &path, &n); err != nil {
		return err
	}
	ended := make(chan error)
	begun := make(chan struct{}, n)
	for range n {
		go func() { ended <- readStream(addr, path, begun) }()
	}
	for range n {
		select {
		case <-begun:
		case err := <-ended:
			return err
		}
	}
	fmt.Print(".")
	return <-ended
}

func readStream(addr, path string, begun chan<- struct{}) error {
	conn, err := net.DialTimeout("tcp", addr, 10*time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, addr)
	in := bufio.NewReader(conn)
	for line := ""; !strings.HasPrefix(line, "event: loop.end"); {
		if line, err = in.ReadString('\n'); err != nil {
			return err
		}
	}
	begun <- struct{}{}
	_, err = io.Copy(io.Discard, in)
	return err
}

// firstWord says when it gives its first word.
type firstWord struct{ said chan time.Time }

func (m *firstWord) Name() string { return "fake/text" }

func (m *firstWord) Stream(context.Context, *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		m.said <- time.Now()
		if yield(model.Chunk{Text: "word"}, nil) {
			yield(model.Chunk{Done: &message.Message{Role: message.Assistant, Parts: []message.Part{message.Text{Text: "word"}}}, Stop: "stop"}, nil)
		}
	}
}

// BenchmarkFirstByte is from when the model gives its first word to when a client
// of /stream has it, over loopback.
func BenchmarkFirstByte(b *testing.B) {
	first := &firstWord{said: make(chan time.Time, 1)}
	s := openSite(b, siteOptions{model: first})
	took := make([]time.Duration, 0, 1<<16)
	for b.Loop() {
		r := s.stream(b.Context(), http.MethodPost, "/stream", hello)
		r.until("delta")
		took = append(took, time.Since(<-first.said))
		r.rest()
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}
