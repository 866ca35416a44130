package uitest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/rosterrun/roster"
)

// attacks would set a flag in the page, or load something, if any was taken for more than
// a text: each way as it is, in entities, in Markdown, and after what may end a text.
func attacks() []string {
	const run = `window.__xss=1`
	ways := []string{
		`<script>` + run + `</script>`, `<img src=x onerror=` + run + `>`, `<svg onload=` + run + `>`, `<svg><script>` + run + `</script></svg>`,
		`<iframe srcdoc="<script>parent.__xss=1</script>"></iframe>`, `<iframe src="javascript:parent.__xss=1"></iframe>`,
		`<a href="javascript:` + run + `">a</a>`, `<a href="jAvA&#115;cript:` + run + `">a</a>`, `<details open ontoggle=` + run + `>a</details>`,
		`<input autofocus onfocus=` + run + `>`, `<video><source onerror=` + run + `></video>`, `<object data="javascript:` + run + `"></object>`,
		`<embed src="data:text/html,<script>parent.__xss=1</script>">`, `<meta http-equiv=refresh content="0;url=javascript:` + run + `">`,
		`<base href="javascript:` + run + `//">`, `<style>@import "http://127.0.0.1:9/a.css";</style>`, `<link rel=stylesheet href="http://127.0.0.1:9/a.css">`,
		`<form action="javascript:` + run + `"><button autofocus>a</button></form>`, `<math><mtext><img src=x onerror=` + run + `></mtext></math>`,
		`<noscript><p title="</noscript><img src=x onerror=` + run + `>">`, `<template><script>` + run + `</script></template>`,
		`<p style="background:url(http://127.0.0.1:9/a.png)">a</p>`, `{{constructor.constructor("` + run + `")()}}`, `[a](javascript:` + run + `)`, `![a](http://127.0.0.1:9/a.png)`,
	}
	var all []string
	for _, w := range ways {
		all = append(all, w, html.EscapeString(w), "**"+w+"** ["+w+"](javascript:"+run+` "`+w+`")`, "</textarea></pre>\"'>--></title>"+w)
	}
	return all
}

// ranAway says whether an attack has run, or would if somebody clicked.
const ranAway = `"__xss" in window || document.querySelector(
	"a[href^='javascript' i], [action], [formaction], main iframe, main object, main embed, main script, main style, main link, main meta, [onerror], [onload], [ontoggle], [onfocus]") !== null`

// hostile is a workspace in which everybody attacks: files, profiles, skills, a rig, a
// server that cannot be started, and what models and people say.
func hostile(t *testing.T, evil string) *desk {
	t.Helper()
	replies := func(list ...map[string]any) string {
		data, err := json.Marshal(map[string]any{"loop": true, "replies": list})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	call := func(name string, input map[string]any) map[string]any {
		return map[string]any{"name": name, "input": input}
	}
	models := "{evil: {context-window: 200000, max-output: 8192}}"
	return newDesk(t, map[string]string{
		"scripts/replies.yaml": replies(
			map[string]any{"text": evil, "tools": []any{call("read", map[string]any{"path": "evil.txt"}), call("read", map[string]any{"path": evil[:200]})}},
			map[string]any{"text": "# The end\n\n" + evil + "\n```event\nevent: Evil\ndescription: " + image + "\n```\n"}),
		"scripts/asks.yaml": replies(
			map[string]any{"text": "I ask.", "tools": []any{call("bash", map[string]any{"command": "echo '" + image + "'"}), call("ask_user", map[string]any{"question": evil, "options": []string{image, "no"}})}}),
		"evil.txt":                  evil + "\xff\xfe<script>window.__xss=1</script>",
		"profiles/victim.md":        fmt.Sprintf("---\nname: victim\ntitle: %s\ndescription: %s\nmodel: acme/evil\ntools: [read]\n---\n%s\n", quote(evil), quote(evil), evil),
		"profiles/asker.md":         fmt.Sprintf("---\nname: asker\ndescription: %s\nmodel: asks/evil\ntools: [bash, ask_user]\npermission: {bash: {%s: ask}}\n---\nAsk.\n", quote(image), quote("*"+image+"*")),
		"profiles/" + image + ".md": "---\nname: other\nmode: " + quote(image) + "\n---\nx\n",
		"skills/evil/SKILL.md":      fmt.Sprintf("---\nname: evil\ndescription: %s\n---\n%s\n", quote(image+" "+attacks()[4]), evil),
		"rig/evil-loom/look.md":     "---\nagent-profile-ref: victim\nstrand-dir: " + quote(image) + "\nevent-description: " + quote(image) + "\n---\n" + evil + "\n",
		image + "/" + image + ".md": evil,
		"roster.yaml": "providers:\n  acme: {api: script, base-url: scripts/replies.yaml, models: " + models + "}\n  asks: {api: script, base-url: scripts/asks.yaml, models: " + models + "}\n" +
			"mcp-servers:\n  bad: {command: " + quote(image) + "}\n",
	})
}

// image is an attack that may be the name of a file.
const image = "<img src=x onerror=window.__xss=1>"

// post sends what somebody else does.
func (d *desk) post(path string, body any, into any) {
	d.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		d.Fatal(err)
	}
	resp, err := http.Post(d.url+path, "application/json", bytes.NewReader(data))
	if err != nil {
		d.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(answer, into)
	}
	if err != nil || resp.StatusCode >= http.StatusBadRequest {
		d.Fatalf("%s: %s, %v: %s", path, resp.Status, err, answer)
	}
}

// runRigs runs the rigs of a workspace until the test ends.
func runRigs(t *testing.T, app *roster.App) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- app.RunRigs(ctx, roster.RigOptions{}) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// TestNothingRuns: what profiles, people, models, tools and files say is shown, and never
// run.
func TestNothingRuns(t *testing.T) {
	evil := strings.Join(attacks(), "\n\n")
	if n := len(attacks()); n < 100 {
		t.Fatalf("there are %d attacks", n)
	}
	d := hostile(t, evil)
	var ran, asked struct{ SessionID string }
	d.post("/chat", map[string]string{"agentId": "victim", "message": evil}, &ran)
	d.post("/sessions", map[string]string{"agentId": "asker", "message": evil, "approvals": "wait"}, &asked)
	runRigs(t, d.app)
	var job struct{ ID string }
	d.post("/rigs/rig/jobs", map[string]string{"knot": "evil-loom/look", "path": image + "/" + image + ".md"}, &job)
	for _, path := range []string{
		"/profiles", "/diagnostics", "/profiles/victim", "/profiles/victim/prompt", "/profiles/victim/edit", "/profiles/victim/sessions",
		"/profiles/victim/history", "/profiles/victim/skills", "/profiles/victim/connections", "/profiles/asker/permissions", "/profiles/asker/state",
		"/sessions", "/sessions/" + ran.SessionID, "/sessions/" + asked.SessionID, "/new/victim", "/approvals", "/rig", "/rig/rig/graph", "/rig/rig/jobs", "/rig/rig/tie-offs",
		"/edit/" + url.PathEscape("profiles/"+image+".md"), "/profiles/" + url.PathEscape(image),
	} {
		d.show(path)
		d.until(ready)
		d.until(`document.body.innerText.includes("__xss")`)
		for _, at := range []string{"0", "e.scrollHeight / 2", "e.scrollHeight"} { // not all of a session is in the page at once
			evaluate[chromedp.Void](d.tab, `new Promise((done) => {
				document.querySelectorAll("[role=log]").forEach((e) => { e.scrollTop = `+at+` });
				document.querySelectorAll("details").forEach((e) => { e.open = true });
				requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)));
			})`)
			if evaluate[bool](d.tab, ranAway) {
				t.Errorf("%s takes for more than a text what is one", path)
			}
		}
		d.wrong(path, d.told(missing))
		d.wrong(path, d.refused())
	}
	evaluate[chromedp.Void](d.tab, `document.querySelector("main").append(Object.assign(document.createElement("a"), { href: "javascript:1" }))`)
	if !evaluate[bool](d.tab, ranAway) {
		t.Error("a link that runs is not seen")
	}
}
