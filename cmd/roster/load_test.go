package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rosterrun/roster/session"
)

// loadSize is how much a server is given to do.
type loadSize struct {
	streams  int           // that are open, of sessions that are prompted again and again
	slow     int           // of them read a byte a second
	sessions int           // that are created each second
	time     time.Duration // half of it before the server is killed
	rss      float64       // MiB that the server may take at most
	health   time.Duration // within which nearly all of its health checks are answered
}

// theLoad is small, or with $ROSTER_LOAD a full one for so long. $ROSTER_LOAD_MODEL
// is the base URL of a server of chat completions that answers instead of a script.
func theLoad(t *testing.T) loadSize {
	text := os.Getenv("ROSTER_LOAD")
	if text == "" {
		return loadSize{streams: 120, slow: 4, sessions: 40, time: 3 * time.Second, rss: 512, health: time.Second}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("ROSTER_LOAD: %v", err)
	}
	return loadSize{streams: 2000, slow: 50, sessions: 500, time: d, rss: 1024, health: 50 * time.Millisecond}
}

// TestServerUnderLoad has many readers on a server that is given new sessions all
// the time, and kills it in the middle. Each reader holds its ids against what it
// has had: none may be missing, and none come twice, also over the restart. At the
// end every prompt that was accepted is answered.
func TestServerUnderLoad(t *testing.T) {
	l := newLoad(t, theLoad(t))
	l.begin()
	l.work(l.size.time / 2)
	l.restart()
	l.work(l.size.time / 2)
	l.finish()
	l.report()
}

// perSession is how many readers a session has, feeds how many follow all of them.
const (
	perSession = 10
	feeds      = 4
)

// load is a server, those who use it, and what they have seen of it.
type load struct {
	*workspace
	size   loadSize
	addr   string
	pid    atomic.Int64
	client *http.Client

	watched []string // sessions that have readers
	readers []*loadReader
	users   sync.WaitGroup
	unprobe func()             // ends the asking for health
	stop    context.CancelFunc // of readers and of who asks for health

	mu       sync.Mutex
	accepted map[string][]int64 // prompts, by session
	health   []time.Duration
	rss      []float64
	routines []float64 // goroutines of the server
	refused  int
}

func newLoad(t *testing.T, size loadSize) *load {
	l := &load{workspace: newWorkspace(t), size: size, accepted: map[string][]int64{}}
	l.write("load.yaml", "replies: [{text: \"a few words that make an answer\", gap: 1ms}]\nloop: true\n")
	model := "script:load.yaml"
	if url := os.Getenv("ROSTER_LOAD_MODEL"); url != "" {
		l.write("roster.yaml", fmt.Sprintf("providers: {load: {api: openai-chat, base-url: %q}}\n", url))
		model = "load/text-1"
	}
	l.write("profiles/loaded.md", "---\ndescription: Works.\nmodel: "+model+"\ntools: []\n---\nWork.\n")
	l.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	t.Cleanup(l.client.CloseIdleConnections)
	return l
}

func (l *load) url(path string) string { return "http://" + l.addr + path }

// serve starts a server, the second one where the first was.
func (l *load) serve() {
	addr := "127.0.0.1:0"
	if l.addr != "" {
		addr = l.addr
	}
	cmd, url := l.served(l.command("serve", "--addr", addr, "--json", "--quiet"))
	if l.addr == "" { // readers look at it from now on
		l.addr = strings.TrimPrefix(url, "http://")
	}
	l.pid.Store(int64(cmd.Process.Pid))
	l.unprobe = l.probe()
	l.t.Cleanup(func() { l.unprobe(); cmd.Process.Kill() })
}

// begin starts the server and opens the streams.
func (l *load) begin() {
	l.serve()
	for range max(1, l.size.streams/perSession) {
		id, _ := l.ask("/sessions", `{"agentId":"loaded","message":"Begin."}`)
		if id == "" {
			l.t.Fatal("a session is not created")
		}
		l.watched = append(l.watched, id)
	}
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	l.t.Cleanup(func() { stop(); l.users.Wait() })
	for i := range l.size.streams {
		r := newLoadReader(l, l.watched[i%len(l.watched)])
		if i < feeds {
			r = newLoadReader(l, "")
		}
		r.slow = i >= feeds && i < feeds+l.size.slow
		l.readers = append(l.readers, r)
		l.users.Go(func() { r.run(ctx) })
	}
	l.users.Go(func() { l.look(ctx) })
	for end := time.Now().Add(patience); !l.all(func(r *loadReader) bool { return r.slow || r.at() > 0 }); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			l.t.Fatal("the streams do not begin")
		}
	}
}

func (l *load) all(is func(*loadReader) bool) bool {
	return !slices.ContainsFunc(l.readers, func(r *loadReader) bool { return !is(r) })
}

// work creates sessions, and prompts those that are read, at a steady pace.
func (l *load) work(d time.Duration) {
	var asking sync.WaitGroup
	turns := make(chan struct{}, 64)
	pace := time.NewTicker(10 * time.Millisecond)
	defer pace.Stop()
	for begun, sent := time.Now(), 0; time.Since(begun) < d; <-pace.C {
		for due := int(time.Since(begun).Seconds() * float64(l.size.sessions)); sent < due; sent++ {
			turns <- struct{}{}
			asking.Go(func() {
				defer func() { <-turns }()
				l.ask("/sessions", `{"agentId":"loaded","message":"Hello."}`)
				if rand.IntN(10) == 0 {
					l.ask("/sessions/"+l.watched[rand.IntN(len(l.watched))]+"/prompt", `{"message":"More.","onBusy":"queue"}`)
				}
			})
		}
	}
	asking.Wait()
}

// ask sends a prompt and notes it if it is accepted.
func (l *load) ask(path, body string) (id string, seq int64) {
	var got struct {
		SessionID string
		Seq       int64
	}
	status := 0
	if resp, err := l.client.Post(l.url(path), "application/json", strings.NewReader(body)); err == nil {
		if json.NewDecoder(resp.Body).Decode(&got) == nil {
			status = resp.StatusCode
		}
		resp.Body.Close()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if status != http.StatusCreated && status != http.StatusAccepted {
		l.refused++
		return "", 0
	}
	l.accepted[got.SessionID] = append(l.accepted[got.SessionID], got.Seq)
	return got.SessionID, got.Seq
}

// restart kills the server while all are at work, and starts another.
func (l *load) restart() {
	working := make(chan struct{})
	go func() { defer close(working); l.work(300 * time.Millisecond) }()
	time.Sleep(150 * time.Millisecond) // the moment does not matter
	l.unprobe()
	pid := int(l.pid.Swap(0))
	process, err := os.FindProcess(pid)
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		l.t.Fatal(err)
	}
	<-working
	l.serve()
}

// look asks how much memory the server takes, while it is there.
func (l *load) look(ctx context.Context) {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		pid := l.pid.Load()
		routines := l.goroutines(client)
		if pid == 0 || pid != l.pid.Load() {
			continue // it was being restarted
		}
		l.mu.Lock()
		l.rss, l.routines = append(l.rss, rssMiB(l.t, int(pid))), append(l.routines, routines)
		l.mu.Unlock()
	}
}

// probe has a process of its own ask for health, which the work of all the readers
// here does not keep waiting, until stop is called.
func (l *load) probe() (stop func()) {
	cmd := exec.Command("ask-health", l.url("/health"))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		l.t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			took, err := time.ParseDuration(lines.Text())
			l.mu.Lock()
			if l.health = append(l.health, took); err != nil {
				l.t.Errorf("health: %s", lines.Text())
			}
			l.mu.Unlock()
		}
	}()
	return sync.OnceFunc(func() {
		cmd.Process.Kill()
		<-read
		cmd.Wait()
	})
}

// askHealth is a program that asks for a server's health 50 times a second, and
// writes how long each answer took.
func askHealth() {
	tick := time.NewTicker(20 * time.Millisecond)
	for range tick.C {
		begun := time.Now()
		resp, err := http.Get(os.Args[1])
		if err == nil {
			resp.Body.Close()
			fmt.Println(time.Since(begun))
		} else {
			fmt.Println(err)
		}
	}
}

// goroutines asks how many there are in the server.
func (l *load) goroutines(client *http.Client) float64 {
	resp, err := client.Get(l.url("/metrics"))
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if n, ok := strings.CutPrefix(lines.Text(), "go_goroutines "); ok {
			v, _ := strconv.ParseFloat(n, 64)
			return v
		}
	}
	return 0
}

// finish waits until all is answered and read, and holds it against the log.
func (l *load) finish() {
	end := time.Now().Add(patience + l.size.time)
	for !l.idle() {
		if time.Now().After(end) {
			l.t.Fatal("the runs do not end")
		}
		time.Sleep(50 * time.Millisecond)
	}
	store := openStore(l.t, l.database())
	defer store.Close()
	last, total := map[string]int64{}, int64(0)
	for sum, err := range store.List(l.t.Context(), "local", session.Query{}) {
		if err != nil {
			l.t.Fatal(err)
		}
		last[sum.Key.Stream] = sum.Last
		total += sum.Last
	}
	last[""] = total
	for !l.all(func(r *loadReader) bool { return r.slow || r.at() >= last[r.session] }) {
		if time.Now().After(end) {
			l.t.Fatal("readers do not come to the end")
		}
		time.Sleep(20 * time.Millisecond)
	}
	l.stop()
	l.users.Wait()
	l.unprobe()
	for _, r := range l.readers {
		if at := r.at(); !r.slow && at != last[r.session] {
			l.t.Errorf("a reader of %q has seen %d events of %d", r.session, at, last[r.session])
		}
	}
	for id, prompts := range l.accepted {
		l.answered(store, id, prompts)
	}
}

func (l *load) idle() bool {
	var list []struct{ ID string }
	return call("GET", l.url("/sessions?status=running"), nil, &list) == http.StatusOK && len(list) == 0
}

// answered holds that each prompt was given to a loop that ended well.
func (l *load) answered(store session.Store, id string, prompts []int64) {
	loops, ended := map[int64]string{}, map[string]session.Reason{}
	for e, err := range store.Read(l.t.Context(), session.Key{Tenant: "local", Stream: id}, 0) {
		if err != nil {
			l.t.Fatal(err)
		}
		body, err := e.Decode()
		if err != nil {
			l.t.Fatal(err)
		}
		switch b := body.(type) {
		case *session.Message:
			if b.Post > 0 {
				loops[b.Post] = e.Loop
			}
		case *session.LoopEnd:
			ended[e.Loop] = b.Reason
		}
	}
	for _, seq := range prompts {
		if reason := ended[loops[seq]]; reason != session.ReasonDone {
			l.t.Errorf("the prompt %d of %s was accepted, and its loop has ended with %q", seq, id, reason)
		}
	}
}

// soak is a time after which what the server takes must have ceased to grow.
const soak = 5 * time.Minute

// flat holds that the server, the second one, took at its end at most a quarter
// more than in the middle of its life.
func (l *load) flat(what string, samples []float64) {
	n := len(samples)
	middle, end := slices.Max(samples[n*5/8:n*3/4]), slices.Max(samples[n*7/8:])
	if end > middle*1.25 {
		l.t.Errorf("%s: %.0f in the middle, %.0f at the end", what, middle, end)
	}
}

// report says what was measured, and holds it to the bounds.
func (l *load) report() {
	slices.Sort(l.health)
	at := func(p float64) time.Duration { return l.health[int(p*float64(len(l.health)-1))] }
	var size int64
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(l.database() + suffix); err == nil {
			size += info.Size()
		}
	}
	sessions := len(l.accepted)
	l.t.Logf("%d streams, %d of them slow; %d sessions in %v, %.0f/s; %d prompts not accepted",
		len(l.readers), l.size.slow, sessions, l.size.time, float64(sessions)/l.size.time.Seconds(), l.refused)
	l.t.Logf("health of %d: p50 %v, p99 %v, the longest %v", len(l.health), at(0.5), at(0.99), at(1))
	l.t.Logf("RSS MiB: %.0f at first, %.0f at last, %.0f at most; database %d bytes a session",
		l.rss[0], l.rss[len(l.rss)-1], slices.Max(l.rss), size/int64(max(1, sessions)))
	l.t.Logf("goroutines: %.0f at first, %.0f at last, %.0f at most", l.routines[0], l.routines[len(l.routines)-1], slices.Max(l.routines))
	if l.size.time >= soak {
		l.flat("RSS", l.rss)
		l.flat("goroutines", l.routines)
	}
	if at(0.99) > l.size.health {
		l.t.Errorf("health takes %v", at(0.99))
	}
	if most := slices.Max(l.rss); most > l.size.rss {
		l.t.Errorf("the server takes %.0f MiB", most)
	}
	if want := float64(l.size.sessions) * l.size.time.Seconds() * 0.9; float64(sessions) < want {
		l.t.Logf("%d sessions were created, %.0f were to be: the machine does not do more", sessions, want)
	}
}
