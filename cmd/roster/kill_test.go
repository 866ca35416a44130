package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// killedTurns is how many turns the run has that is killed.
const killedTurns = 10

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

// TestServerKilledAtRandom kills the server in the middle of runs whose tool
// appends lines to a file. The next server must finish each run by itself: no
// line is there twice, and where the outcome of a call was not known, the model
// was told so.
func TestServerKilledAtRandom(t *testing.T) {
	w := newWorkspace(t)
	whole := w.killedRun(t, "whole", 0)
	unknown, unstored := 0, 0
	for i := range kills(t) {
		name := fmt.Sprint("run", i)
		w.killedRun(t, name, 1+rand.N(whole))
		switch n := w.checkKilled(t, name); {
		case n < 0:
			unstored++
		default:
			unknown += n
		}
	}
	t.Logf("%d kills within %v: %d outcomes unknown, %d prompts not stored yet", kills(t), whole, unknown, unstored)
}

// killedRun runs a script in a server that is killed.
func (w *workspace) killedRun(t *testing.T, name string, after time.Duration) time.Duration {
	t.Helper()
	var script strings.Builder
	script.WriteString("replies:\n")
	for i := range killedTurns {
		fmt.Fprintf(&script, "  - {delay: 5ms, tools: [{name: bash, input: {command: \"echo turn-%d >> %s.log\"}}]}\n", i, name)
	}
	script.WriteString("  - text: done\n")
	w.write(name+".yaml", script.String())
	return w.killServer(t, name, "worker", after)
}

// killServer gives a profile a prompt by that name, with the script by that name.
// After the given time the server is killed, and another one is waited for until
// the run has ended. Without a time it returns how long the run takes.
func (w *workspace) killServer(t *testing.T, name, profile string, after time.Duration) time.Duration {
	t.Helper()
	server, url := w.serve()
	start := time.Now()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		body := fmt.Sprintf(`{"message":%q,"agentId":%q,"model":"script:%s.yaml"}`, name, profile, filepath.Join(w.dir, name))
		if resp, err := http.Post(url+"/chat", "application/json", strings.NewReader(body)); err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}()
	if after == 0 {
		<-sent
		took := time.Since(start)
		server.Process.Kill()
		server.Wait()
		return took
	}
	select {
	case <-time.After(after):
	case <-sent:
	}
	server.Process.Kill()
	server.Wait()
	<-sent

	server, url = w.serve()
	if id := w.sessionTitled(name); id != "" {
		resp, err := http.Get(url + "/sessions/" + id + "/events?until=idle")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	server.Process.Kill()
	server.Wait()
	return 0
}

// sessionTitled finds the session of a prompt; empty: it was not stored.
func (w *workspace) sessionTitled(title string) string {
	out, _ := w.roster("sessions", "list", "--json")
	var list []struct{ ID, Title string }
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		w.t.Fatalf("sessions list: %v in %s", err, out)
	}
	for _, s := range list {
		if s.Title == title {
			return s.ID
		}
	}
	return ""
}

// checkKilled checks the log of a run and the lines it left, and returns how
// many outcomes were not known; -1: the prompt was not stored.
func (w *workspace) checkKilled(t *testing.T, name string) (unknown int) {
	t.Helper()
	id := w.sessionTitled(name)
	if id == "" {
		return -1
	}
	outcomes := map[string]string{} // by what the call was to write
	inputs := map[string]string{}
	out, _ := w.roster("sessions", "events", id)
	var end struct{ Reason, Text string }
	ends := 0
	for line := range strings.Lines(out) {
		var e struct {
			Type string
			Data json.RawMessage
		}
		var call struct {
			Call, Outcome string
			Input         struct{ Command string }
			Parts         []struct{ Text string }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case "tool.before":
			json.Unmarshal(e.Data, &call)
			inputs[call.Call] = strings.Fields(call.Input.Command)[1]
		case "tool.after":
			json.Unmarshal(e.Data, &call)
			outcomes[inputs[call.Call]] = call.Outcome
			if call.Outcome == "unknown" {
				unknown++
				if !strings.Contains(call.Parts[0].Text, "not known") {
					t.Errorf("%s: the model was told %q", name, call.Parts[0].Text)
				}
			}
		case "loop.end":
			ends++
			json.Unmarshal(e.Data, &end)
		}
	}
	if ends != 1 || end.Reason != "done" || end.Text != "done" || len(outcomes) != killedTurns {
		t.Errorf("%s: %d ends, the last %+v, after %d calls\n%s", name, ends, end, len(outcomes), out)
	}
	written := map[string]int{}
	data, err := os.ReadFile(filepath.Join(w.dir, name+".log"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, line := range strings.Fields(string(data)) {
		written[line]++
	}
	for i := range killedTurns {
		line := fmt.Sprint("turn-", i)
		if n, o := written[line], outcomes[line]; n > 1 || o == "ok" && n != 1 || o != "ok" && o != "unknown" {
			t.Errorf("%s: %s was written %d times, its outcome is %q", name, line, n, o)
		}
	}
	return unknown
}
