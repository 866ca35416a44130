package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/sqlite"
)

// kills is how often the server is killed: $ROSTER_KILLS, or 25.
func kills(t *testing.T) int {
	text := os.Getenv("ROSTER_KILLS")
	if text == "" {
		return 25
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("ROSTER_KILLS: %v", err)
	}
	return n
}

// TestServerKilledAtRandom kills the server again and again while it works on
// runs that write lines to a file, delegate, wait for people and are sent
// messages. The next server must go on with all of them by itself. At the end
// every run has ended, nothing that was acknowledged is lost, no line is there
// twice, and where the outcome of a call was not known the model was told so.
func TestServerKilledAtRandom(t *testing.T) {
	t.Parallel()
	c := newChaos(t)
	n := kills(t)
	for i := range n {
		c.admit(min(i*len(c.runs)/n+2, c.open+atOnce-c.busy))
		c.life(rand.IntN(eventsPerLife))
		c.look()
	}
	c.admit(len(c.runs))
	c.last()
	c.check()
	t.Logf("%d kills over %d runs", n, len(c.runs))
	t.Logf("calls by outcome: %v; runs given up as poisoned: %d", c.outcomes, c.poisoned)
	t.Logf("the newest event of each session that was at work when the server died:\n%s", histogram(c.newest))
	for _, typ := range commitEnds {
		if n >= 500 && c.newest[typ] == 0 {
			t.Errorf("the server never died when %s was the newest event of a session", typ)
		}
	}
}

// commitEnds are the types of events that a commit can end with.
var commitEnds = strings.Fields(`prompt steer followup permission.resolved input.answered loop.resumed turn.request
	retry message tool.before tool.after permission.asked input.asked loop.waiting loop.end`)

// chaos is the server that is killed, and those who use it.
type chaos struct {
	*workspace
	runs     []*chaosRun
	open     int            // how many of the runs have been sent, or may be
	busy     int            // how many of them the last server left at work
	newest   map[string]int // types of the events that stood last when the server died
	seen     map[session.Key]int64
	outcomes map[session.Outcome]int
	poisoned int
}

// chaosRun is one session, and what its server has said about it.
type chaosRun struct {
	*chaosPlan

	mu       sync.Mutex
	id       string
	stored   bool              // the prompt was acknowledged
	notes    map[string]bool   // by text: whether it was acknowledged
	answered map[string]string // by question: what was acknowledged
}

func newChaos(t *testing.T) *chaos {
	c := &chaos{workspace: newWorkspace(t), newest: map[string]int{}, seen: map[session.Key]int64{}, outcomes: map[session.Outcome]int{}}
	c.write("profiles/lead.md", "---\ndescription: Leads.\n"+chaosKeys+"---\nLead.\n")
	for i := range max(3, kills(t)*2/5) {
		r := &chaosRun{chaosPlan: newChaosPlan(i), notes: map[string]bool{}, answered: map[string]string{}}
		r.write(c.workspace)
		c.runs = append(c.runs, r)
	}
	return c
}

// atOnce is how many runs are open at a time: the more there are, the less each
// gets on before the server dies again.
const atOnce = 5

// admit lets the first n runs begin.
func (c *chaos) admit(n int) { c.open = max(c.open, min(n, len(c.runs))) }

// eventsPerLife bounds how many events are logged before a server dies, and
// idleLife how long it waits for the next one. A run has about a hundred.
const (
	eventsPerLife = 110
	idleLife      = time.Second
)

// life is one server, which is killed somewhere in the work for the next so many
// events, and its users. That it counts events makes it the same on a machine
// that is slow.
func (c *chaos) life(events int) {
	server, url := c.serve()
	stop := c.use(url)
	c.logged(events)
	time.Sleep(rand.N(10 * time.Millisecond)) // the moment of death is the point
	server.Process.Kill()
	server.Wait()
	stop()
}

// logged waits until so many events have been added, or nothing happens.
func (c *chaos) logged(events int) {
	db, err := sql.Open("sqlite", c.database()) // not kept open: a dead server leaves nobody at the database
	if err != nil {
		c.t.Fatal(err)
	}
	defer db.Close()
	first, newest, since := -1, 0, time.Now()
	for time.Since(since) < idleLife {
		var now int
		if err := db.QueryRow("SELECT coalesce(sum(last), 0) FROM streams").Scan(&now); err != nil {
			c.t.Fatal(err)
		}
		if first < 0 {
			first = now
		}
		if now != newest {
			newest, since = now, time.Now()
		}
		if now-first >= events {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// last is a server that lives until all that was sent has ended.
func (c *chaos) last() {
	server, url := c.serve()
	stop := c.use(url)
	late := time.Now().Add(patience + time.Duration(len(c.runs))*time.Second)
	for !c.idle(url) {
		if time.Now().After(late) {
			c.t.Fatal("the runs do not end")
		}
		time.Sleep(20 * time.Millisecond)
	}
	stop()
	server.Process.Signal(os.Interrupt)
	if server.Wait() != nil {
		c.t.Errorf("the server ended with %v", server.ProcessState)
	}
}

// idle says that all runs have been sent and nothing is left to do.
func (c *chaos) idle(url string) bool {
	for _, r := range c.runs[:c.open] {
		r.mu.Lock()
		stored := r.stored
		r.mu.Unlock()
		if !stored {
			return false
		}
	}
	for _, status := range []string{"running", "waiting"} {
		var list []struct{ ID string }
		if call("GET", url+"/sessions?status="+status, nil, &list) != http.StatusOK || len(list) > 0 {
			return false
		}
	}
	return true
}

// use sends prompts and messages and answers questions until it is stopped.
func (c *chaos) use(url string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var users sync.WaitGroup
	users.Go(func() {
		for ctx.Err() == nil {
			for _, r := range c.runs[:c.open] {
				r.prompt(url)
				if ctx.Err() == nil && rand.IntN(40) == 0 {
					r.say(url)
				}
			}
			c.answer(url)
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	return func() { cancel(); users.Wait() }
}

// prompt sends the prompt until it is acknowledged.
func (r *chaosRun) prompt(url string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stored {
		return
	}
	body := fmt.Sprintf(`{"message": %q, "agentId": "lead", "approvals": "wait", "model": "script:%s.yaml"}`, r.name, r.name)
	req, err := http.NewRequest("POST", url+"/stream", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Idempotency-Key", r.name)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return
	}
	resp.Body.Close() // the run goes on without a reader
	r.id = resp.Header.Get("X-Session-Id")
	r.stored = resp.StatusCode == http.StatusOK && r.id != ""
}

// say sends one more message to the run.
func (r *chaosRun) say(url string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stored || len(r.notes) == chaosNotes {
		return
	}
	kind := []string{"steer", "followup"}[rand.IntN(2)]
	text := fmt.Sprintf("%s %d", kind, len(r.notes))
	r.notes[text] = call("POST", url+"/sessions/"+r.id+"/"+kind, map[string]any{"message": text}, nil) == http.StatusAccepted
}

// answer answers what waits for somebody.
func (c *chaos) answer(url string) {
	var list []struct{ ID, SessionID, Question string }
	if call("GET", url+"/approvals", nil, &list) != http.StatusOK {
		return
	}
	for _, q := range list {
		i := slices.IndexFunc(c.runs, func(r *chaosRun) bool { return r.id == q.SessionID })
		if i < 0 {
			continue // its prompt has not been acknowledged
		}
		if rand.IntN(3) > 0 {
			continue // people take their time
		}
		answer := []string{"once", "once", "once", "session", "no"}[rand.IntN(5)]
		path, body := "/approvals/"+q.ID, map[string]any{"answer": answer}
		if q.Question != "" {
			answer = "text"
			path, body = "/sessions/"+q.SessionID+"/answers", map[string]any{"id": q.ID, "text": "this"}
		}
		if call("POST", url+path, body, nil) == http.StatusOK {
			c.runs[i].answered[q.ID] = answer
		}
	}
}

// call returns the status of an answer, 0 if there is none.
func call(method, url string, body, into any) int {
	data, _ := json.Marshal(body)
	req, err := http.NewRequest(method, url, strings.NewReader(string(data)))
	if err != nil {
		panic(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err == nil && into != nil {
		err = json.Unmarshal(got, into)
	}
	if err != nil {
		return 0
	}
	return resp.StatusCode
}

// look opens a copy of what the dead server has left, as the next one will find
// it, and notes how far the sessions had come that were at work.
func (c *chaos) look() {
	c.t.Helper()
	dir := c.t.TempDir()
	defer os.RemoveAll(dir)
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(c.database() + suffix)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "roster.db"+suffix), data, 0o600)
		}
		if err != nil && !os.IsNotExist(err) {
			c.t.Fatal(err)
		}
	}
	store := openStore(c.t, filepath.Join(dir, "roster.db"))
	defer store.Close()
	c.busy = 0
	for sum, err := range store.List(c.t.Context(), "local", session.Query{}) {
		if err != nil {
			c.t.Fatal(err)
		}
		busy := sum.Runnable() || sum.Suspended
		if busy {
			c.busy++
		}
		if busy || c.seen[sum.Key] != sum.Last {
			events := c.fold(store, sum)
			c.newest[events[len(events)-1].Type]++
			c.seen[sum.Key] = sum.Last
		}
	}
}

func openStore(t testing.TB, path string) *sqlite.Store {
	store, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// database is where the server keeps its sessions.
func (w *workspace) database() string {
	found, err := filepath.Glob(filepath.Join(w.dir+".state", "roster", "*", "roster.db"))
	if err != nil || len(found) != 1 {
		w.t.Fatalf("databases: %q, %v", found, err)
	}
	return found[0]
}

// histogram draws how often each was counted.
func histogram(count map[string]int) string {
	most := 1
	for _, n := range count {
		most = max(most, n)
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(count)) {
		fmt.Fprintf(&b, "%-20s %5d %s\n", name, count[name], strings.Repeat("#", 1+count[name]*40/most))
	}
	return b.String()
}
