package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkServe measures text turns over HTTP, durable: the program as it is
// built for users, and in this process a provider that answers in 20 pieces and
// the clients, which read each stream to its end. All share the machine.
func BenchmarkServe(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "roster")
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for _, c := range []struct {
		clients int
		delay   time.Duration
	}{{1, 0}, {8, 0}, {64, 0}, {128, 200 * time.Millisecond}, {512, 200 * time.Millisecond}} {
		b.Run(fmt.Sprintf("clients-%d/model-%v", c.clients, c.delay), func(b *testing.B) {
			serveTurns(b, bin, c.clients, c.delay)
		})
	}
}

func serveTurns(b *testing.B, bin string, clients int, delay time.Duration) {
	w := newWorkspace(b)
	model := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { answer(rw, r, delay) }))
	b.Cleanup(model.Close)
	w.write("roster.yaml", "providers:\n  bench: {api: openai-chat, base-url: "+model.URL+"/v1}\n")
	w.write("profiles/worker.md", "---\ndescription: Works.\nmodel: bench/text\n---\nWork.\n")
	server, url := w.serveWith(bin)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	b.Cleanup(client.CloseIdleConnections)

	var warm sync.WaitGroup
	for range clients {
		warm.Go(func() { turn(b, client, url) })
	}
	warm.Wait()
	before := cpuTime(b, server.Process.Pid)
	var left atomic.Int64
	var mu sync.Mutex
	var took []time.Duration
	b.ResetTimer()
	left.Store(int64(b.N))
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			var mine []time.Duration
			for left.Add(-1) >= 0 {
				start := time.Now()
				turn(b, client, url)
				mine = append(mine, time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
		})
	}
	all.Wait()
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs-p50")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs-p99")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
	b.ReportMetric(float64((cpuTime(b, server.Process.Pid)-before).Microseconds())/float64(b.N), "µs-server-cpu/op")
	b.ReportMetric(rssMiB(b, server.Process.Pid), "MiB-RSS")
}

func (w *workspace) serveWith(bin string) (*exec.Cmd, string) {
	cmd := w.command("serve", "--addr", "127.0.0.1:0", "--quiet", "--json")
	cmd.Path, cmd.Err = bin, nil
	return w.served(cmd)
}

// turn asks one question in a session of its own and reads the stream.
func turn(b *testing.B, client *http.Client, url string) {
	resp, err := client.Post(url+"/stream", "application/json", strings.NewReader(`{"message":"Hello","agentId":"worker"}`))
	if err != nil {
		b.Error(err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || !bytes.Contains(body, []byte("event: loop.end")) {
		b.Errorf("%v: %s", err, body)
	}
}

// answer streams 20 pieces, as a provider does.
func answer(w http.ResponseWriter, r *http.Request, delay time.Duration) {
	io.Copy(io.Discard, r.Body)
	if delay > 0 {
		time.Sleep(delay)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w).Flush
	const piece = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"text","choices":[{"index":0,"delta":{"content":"xxxxxxxxxxxxxxxx"},"finish_reason":null}]}` + "\n\n"
	for range 20 {
		io.WriteString(w, piece)
		flush()
	}
	io.WriteString(w, `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"text","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":10,"total_tokens":20}}`+"\n\ndata: [DONE]\n\n")
}

// cpuTime is the user and system time that a process has used.
func cpuTime(b *testing.B, pid int) time.Duration {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err := cmp.Or(err1, err2); err != nil {
		b.Fatal(err)
	}
	const tick = 10 * time.Millisecond
	return time.Duration(user+system) * tick
}

func rssMiB(b testing.TB, pid int) float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if kib, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, _ := strconv.Atoi(strings.Fields(kib)[0])
			return float64(n) / 1024
		}
	}
	return 0
}
