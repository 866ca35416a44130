package external

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	goleak.VerifyTestMain(m)
}

// command is a command with this program as its helper.
func command(t *testing.T, line string) Command {
	return Command{Line: line, Helper: sandbox.Self(), Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}}
}

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       hook.Decision
		says       string
	}{
		{"allow", `echo '{"decision":"allow"}'`, hook.Allow, ""},
		{"deny", `echo '{"decision":"deny","reason":"no"}'`, hook.Deny, ""},
		{"it is told", `grep -q '"event":"before-tool".*"tool":"bash","input":{"command":"ls"}' && echo '{"decision":"rewrite","input":{"command":"ls -l"}}'`, hook.Rewrite, ""},
		{"what it does not read", `exec <&-; echo '{"decision":"allow"}'`, hook.Allow, ""},
		{"an exit code", `echo '{"decision":"allow"}'; echo oh  no >&2; exit 3`, hook.Deny, "exit code 3: oh no"},
		{"no such command", `./nothing`, hook.Deny, "exit code 127"},
		{"killed", `kill -9 $$`, hook.Deny, "exit code 137"},
		{"nothing said", `true`, hook.Deny, "the answer is empty"},
		{"no JSON", `echo yes`, hook.Deny, "no JSON"},
		{"too much", `yes`, hook.Deny, "more than 1048576 bytes"},
		{"too long", `sleep 60`, hook.Deny, "no answer in 300ms"},
		{"too long below", `(setsid sleep 60 & echo $! > pid); wait; sleep 60`, hook.Deny, "no answer in 300ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd, limit := command(t, c.line), 20*time.Second
			if strings.HasPrefix(c.name, "too long") {
				limit = 300 * time.Millisecond
			}
			check(t, cmd.Ask, limit, c.want, c.says)
			if pid, err := os.ReadFile(filepath.Join(cmd.Dir, "pid")); err == nil {
				if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); err == nil {
					t.Error("a process of it is left")
				}
			}
		})
	}
}

// TestCommandWithALongInput: an input that no pipe holds, and that nobody reads.
func TestCommandWithALongInput(t *testing.T) {
	cmd := command(t, `echo '{"decision":"allow"}'`)
	m := hook.Moment{Event: hook.OnMessage, Text: strings.Repeat("x", 1<<20)}
	if v, err := cmd.Ask(t.Context(), &m); err != nil || v.Decision != hook.Allow {
		t.Errorf("%+v, %v", v, err)
	}
}

func check(t *testing.T, ask func(context.Context, *hook.Moment) (hook.Verdict, error), limit time.Duration, want hook.Decision, says string) {
	t.Helper()
	set, err := hook.NewSet(hook.Hook{On: hook.BeforeTool, Name: "a.md:3", Timeout: limit, Ask: ask})
	if err != nil {
		t.Fatal(err)
	}
	a := set.Ask(t.Context(), hook.Moment{Event: hook.BeforeTool, Tool: "bash", Input: []byte(`{"command":"ls"}`)})
	if a.Decision != want || a.Failed != (says != "") || !strings.Contains(a.Reason, says) {
		t.Errorf("%s: %s, failed %t; want %s and %q", a.Decision, a.Reason, a.Failed, want, says)
	}
}

func TestAddress(t *testing.T) {
	for _, c := range []struct {
		name string
		do   http.HandlerFunc
		want hook.Decision
		says string
	}{
		{"allow", say(200, `{"decision":"allow"}`), hook.Allow, ""},
		{"created", say(201, `{"decision":"allow"}`), hook.Allow, ""},
		{"deny", say(200, `{"decision":"deny"}`), hook.Deny, ""},
		{"it is told", func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if r.Method == http.MethodPost && r.Header.Get("Content-Type") == "application/json" && strings.Contains(string(body), `"input":{"command":"ls"}`) {
				io.WriteString(w, `{"decision":"rewrite","input":{}}`)
			}
		}, hook.Rewrite, ""},
		{"an error", say(500, `{"decision":"allow"}`), hook.Deny, "500 Internal Server Error"},
		{"not found", say(404, ""), hook.Deny, "404"},
		{"elsewhere", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/there" {
				io.WriteString(w, `{"decision":"allow"}`)
				return
			}
			http.Redirect(w, r, "/there", http.StatusTemporaryRedirect)
		}, hook.Deny, "307"},
		{"nothing", say(204, ""), hook.Deny, "the answer is empty"},
		{"no JSON", say(200, "<html>"), hook.Deny, "no JSON"},
		{"too much", func(w http.ResponseWriter, _ *http.Request) {
			for range 40 {
				fmt.Fprintf(w, "%65536s", "")
			}
		}, hook.Deny, "more than 1048576 bytes"},
		{"too late", func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}, hook.Deny, "no answer in 300ms"},
		{"hung up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, hook.Deny, "EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := httptest.NewServer(c.do)
			defer s.Close()
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			limit := 20 * time.Second
			if c.name == "too late" {
				limit = 300 * time.Millisecond
			}
			check(t, Address{client, s.URL + "/hook?token=secret"}.Ask, limit, c.want, c.says)
		})
	}
	v, err := Address{http.DefaultClient, "http://127.0.0.1:1/?token=secret"}.Ask(t.Context(), &hook.Moment{})
	if err == nil || v.Decision != hook.Deny || strings.Contains(err.Error(), "secret") {
		t.Errorf("%+v, %v", v, err)
	}
}

func say(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, text)
	}
}
