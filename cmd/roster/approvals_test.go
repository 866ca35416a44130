package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// waitingFor sets two variables to the id of the newest approval that waits and
// to that of its session.
func waitingFor(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Exec("roster", "approvals", "list", "--json"))
	var list []struct{ ID, SessionID string }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &list))
	if len(list) == 0 {
		ts.Fatalf("nothing waits")
	}
	last := list[len(list)-1]
	ts.Setenv(args[0], last.ID)
	ts.Setenv(args[1], last.SessionID)
}

// grant sets a variable to the id of the grant that stdout lists.
func grant(ts *testscript.TestScript, _ bool, args []string) {
	var list []struct{ ID string }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &list))
	if len(list) != 1 {
		ts.Fatalf("%d grants", len(list))
	}
	ts.Setenv(args[0], list[0].ID)
}

const asking = "---\ndescription: Asks.\ntools: [bash]\npermission: {bash: ask}\n---\nWork.\n"

// TestAWaitOutlivesTheServer: a server that is killed while a run waits leaves
// it waiting; the next one goes on with it when it is answered.
func TestAWaitOutlivesTheServer(t *testing.T) {
	w := newWorkspace(t)
	w.write("profiles/asker.md", asking)
	w.write("replies.yaml", `replies: [{tools: [{name: bash, input: {command: "echo ran >> effects.log"}}]}, {text: "All done."}]`)
	server, url := w.serve()
	body := fmt.Sprintf(`{"message":"go","agentId":"asker","approvals":"wait","model":"script:%s"}`, filepath.Join(w.dir, "replies.yaml"))
	status, answer := post(t, url+"/chat", body)
	var waits struct {
		SessionID, Status string
		Approvals         []struct{ ID string }
	}
	if err := json.Unmarshal(answer, &waits); err != nil || status != http.StatusAccepted || waits.Status != "waiting" || len(waits.Approvals) != 1 {
		t.Fatalf("%d %s", status, answer)
	}
	server.Process.Kill()
	server.Wait()
	if _, status := w.session(); status != "waiting" {
		t.Errorf("after the kill the session is %s", status)
	}

	_, url = w.serve()
	got, err := http.Get(url + "/approvals")
	if err != nil {
		t.Fatal(err)
	}
	listed, _ := io.ReadAll(got.Body)
	got.Body.Close()
	if !strings.Contains(string(listed), waits.Approvals[0].ID) {
		t.Fatalf("the next server lists %s", listed)
	}
	if n := w.effects(); n != 0 {
		t.Fatalf("the command ran %d times before it was allowed", n)
	}
	if status, answer := post(t, url+"/approvals/"+waits.Approvals[0].ID, `{"answer":"once"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, answer)
	}
	events, err := http.Get(url + "/sessions/" + waits.SessionID + "/events?until=idle")
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	log, _ := io.ReadAll(events.Body)
	if !strings.Contains(string(log), "All done.") || w.effects() != 1 {
		t.Errorf("%d effects after\n%s", w.effects(), log)
	}
}

// TestACommandAnswersAServersRun: an answer by another process is noticed.
func TestACommandAnswersAServersRun(t *testing.T) {
	w := newWorkspace(t)
	w.write("profiles/asker.md", asking)
	w.write("replies.yaml", `replies: [{tools: [{name: bash, input: {command: "echo ran >> effects.log"}}]}, {text: "All done."}]`)
	_, url := w.serve()
	body := fmt.Sprintf(`{"message":"go","agentId":"asker","approvals":"wait","model":"script:%s"}`, filepath.Join(w.dir, "replies.yaml"))
	status, answer := post(t, url+"/chat", body)
	var waits struct {
		SessionID string
		Approvals []struct{ ID string }
	}
	if err := json.Unmarshal(answer, &waits); err != nil || status != http.StatusAccepted {
		t.Fatalf("%d %s", status, answer)
	}
	if out, code := w.roster("approvals", "answer", waits.Approvals[0].ID, "session"); code != exitDone {
		t.Fatalf("exit code %d: %s", code, out)
	}
	events, err := http.Get(url + "/sessions/" + waits.SessionID + "/events?until=idle")
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	if log, _ := io.ReadAll(events.Body); !strings.Contains(string(log), "All done.") || w.effects() != 1 {
		t.Errorf("%d effects after\n%s", w.effects(), log)
	}
}

// TestNobodyAnswersInTime: the server refuses what nobody has answered.
func TestNobodyAnswersInTime(t *testing.T) {
	w := newWorkspace(t)
	w.write("profiles/asker.md", asking)
	w.write("replies.yaml", `replies: [{tools: [{name: bash, input: {command: "echo ran >> effects.log"}}]}, {text: "All done."}]`)
	cmd := w.command("serve", "--addr", "127.0.0.1:0", "--json", "--quiet")
	cmd.Env = append(cmd.Env, "ROSTER_APPROVALS_TIMEOUT=100ms")
	_, url := w.served(cmd)
	body := fmt.Sprintf(`{"message":"go","agentId":"asker","approvals":"wait","model":"script:%s"}`, filepath.Join(w.dir, "replies.yaml"))
	status, answer := post(t, url+"/chat", body)
	var waits struct {
		SessionID string
		Approvals []struct{ ID string }
	}
	if err := json.Unmarshal(answer, &waits); err != nil || status != http.StatusAccepted {
		t.Fatalf("%d %s", status, answer)
	}
	events, err := http.Get(url + "/sessions/" + waits.SessionID + "/events?until=idle")
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	log, _ := io.ReadAll(events.Body)
	if !strings.Contains(string(log), "did not answer in time") || !strings.Contains(string(log), "All done.") || w.effects() != 0 {
		t.Errorf("%d effects after\n%s", w.effects(), log)
	}
	if status, answer := post(t, url+"/approvals/"+waits.Approvals[0].ID, `{"answer":"once"}`); status != http.StatusConflict || !strings.Contains(string(answer), "expired") {
		t.Errorf("a late answer: %d %s", status, answer)
	}
}

func post(t *testing.T, url, body string) (int, []byte) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, data
}
