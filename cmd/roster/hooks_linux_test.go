package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rosterrun/roster/hook"
)

// hooksOf writes hooks of every event, each as a command and as an address. A
// command leaves its name in a file.
func (w *workspace) hooksOf(where string) string {
	var b strings.Builder
	for _, on := range hook.Events() {
		name := where + "-" + string(on)
		fmt.Fprintf(&b, "%s: [{command: 'echo %s >> ran; echo ''{\"decision\":\"allow\"}'''}, {url: \"%s/hook/%s\"}], ", on, name, w.provider.URL, name)
	}
	return "{" + strings.TrimSuffix(b.String(), ", ") + "}"
}

// ran lists the hooks that were asked, and forgets them.
func (w *workspace) ran() (commands, addresses string) {
	file := filepath.Join(w.dir, "ran")
	data, _ := os.ReadFile(file)
	os.Remove(file)
	addresses = strings.Join(w.provider.hooked(), "\n")
	w.provider.mu.Lock()
	defer w.provider.mu.Unlock()
	w.provider.hooks = nil
	return string(data), addresses
}

// TestHooksAndTrust: hooks of each place, event and kind start nothing and reach
// nobody in a workspace that nobody has trusted; once it is, all of them are
// asked; and after one byte of one is another, that one is not.
func TestHooksAndTrust(t *testing.T) {
	w := &workspace{t: t, dir: filepath.Join(t.TempDir(), "ws"), provider: newProvider(t)}
	places := []string{"host", "defaults", "profile", "parent"}
	w.write("roster.yaml", "defaults: {hooks: "+w.hooksOf("defaults")+"}\nhooks: "+w.hooksOf("host")+"\n")
	w.write("profiles/base.md", "---\ndescription: d\nhooks: "+w.hooksOf("parent")+"\n---\nx\n")
	evil := "---\ndescription: d\nextends: base\nmodel: script:calls.yaml\npermission: {bash: allow}\nhooks: " + w.hooksOf("profile") + "\n---\nx\n"
	w.write("profiles/evil.md", evil)
	w.write("calls.yaml", "replies: [{tools: [{name: bash, input: {command: 'true'}}]}, {text: Done.}]\nloop: true\n")

	out, code, calls := w.traced("run", "evil", "Look")
	quiet(t, "run", calls)
	w.untouched("run")
	if code != 0 || strings.Count(out, "has no effect") != 2 || strings.Count(out, "roster: 31 more have no effect: see roster trust --list") != 2 {
		t.Errorf("exit code %d:\n%s", code, out)
	}

	run := func(args ...string) string {
		t.Helper()
		out, err := w.user(exec.Command("roster", args...)).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("trust", "--yes")
	run("run", "evil", "Look")
	commands, addresses := w.ran()
	for _, place := range places {
		for _, on := range hook.Events() {
			name := place + "-" + string(on)
			if !strings.Contains(commands, name+"\n") || !strings.Contains(addresses+"\n", "/hook/"+name+"\n") {
				t.Errorf("%s was not asked", name)
			}
		}
	}
	if listed := run("explain", "evil"); strings.Count(listed, "\nhooks ") != 2*len(places)*len(hook.Events()) {
		t.Errorf("explain lists %d hooks:\n%s", strings.Count(listed, "\nhooks "), listed)
	}

	w.write("profiles/evil.md", strings.Replace(strings.Replace(evil, "profile-before-tool ", "profile-before-tooL ", 1), "hook/profile-after-loop", "hook/profile-after-looP", 1))
	out = run("run", "evil", "Look")
	commands, addresses = w.ran()
	if strings.Contains(commands, "tooL") || strings.Contains(addresses, "looP") || !strings.Contains(commands, "profile-after-tool\n") {
		t.Errorf("what changed acts, or what did not does not:\n%s%s", commands, addresses)
	}
	if !strings.Contains(out, "hooks.before-tool has no effect: it is not what it was") || !strings.Contains(out, "roster: 1 more have no effect") {
		t.Errorf("it is not said:\n%s", out)
	}
	if listed := run("trust", "--list"); !strings.Contains(listed, "profile-before-tooL") || !strings.Contains(listed, "profile-after-looP") {
		t.Errorf("the difference is not shown:\n%s", listed)
	}
}
