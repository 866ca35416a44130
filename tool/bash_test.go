package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
)

func TestBash(t *testing.T) {
	f := newFixture(t)
	f.file("sub/x.txt", "")
	f.file("-o\n\xc3\xa9/x", "")
	tests := map[string]struct {
		in    object
		want  string
		error bool
	}{
		"output":           {object{"command": "echo a; echo b >&2"}, "a\nb\n", false},
		"no output":        {object{"command": "true"}, "[no output]", false},
		"exit code":        {object{"command": "echo a; exit 3"}, "a\n[exit code 3]", true},
		"no newline":       {object{"command": "printf a; false"}, "a\n[exit code 1]", true},
		"killed":           {object{"command": "kill -9 $$"}, "[exit code 137]", true},
		"workspace":        {object{"command": "pwd; echo $PWD"}, f.root + "\n" + f.root + "\n", false},
		"workdir":          {object{"command": "ls", "workdir": "sub"}, "x.txt\n", false},
		"no input":         {object{"command": "cat"}, "[no output]", false},
		"no terminal":      {object{"command": "tty"}, "not a tty\n[exit code 1]", true},
		"no shell state":   {object{"command": "x=1; cd /"}, "[no output]", false},
		"syntax error":     {object{"command": "echo ("}, "bash: -c: line 1: syntax error near unexpected token `newline'\nbash: -c: line 1: `echo ('\n[exit code 2]", true},
		"binary output":    {object{"command": `printf 'a\377b'`}, "a\uFFFDb", false},
		"NULs":             {object{"command": `printf 'a\0\0b\033[1mc'`}, "a\uFFFDb\x1b[1mc", false},
		"closed input":     {object{"command": "exec <&-; read x 2> /dev/null; echo $?"}, "1\n", false},
		"closed output":    {object{"command": "exec >&- 2>&-; sleep 0.05; exit 4"}, "[exit code 4]", true},
		"blank":            {object{"command": " \n\t"}, "[no output]", false},
		"here document":    {object{"command": "cat <<X\n$((1+1))\nX"}, "2\n", false},
		"leading dash":     {object{"command": "-x"}, "bash: line 1: -x: command not found\n[exit code 127]", true},
		"what stays":       {object{"command": "(tail -f /dev/null; echo late) & echo now"}, "now\n", false},
		"stops itself":     {object{"command": "echo a; kill -STOP $$", "timeout": 0.3}, "a\n[timed out after 300ms; the command and all that it started were ended]", true},
		"odd name":         {object{"command": "printf %s \"$(pwd)\"", "workdir": "-o\n\xc3\xa9"}, f.root + "/-o\n\xc3\xa9", false},
		"long command":     {object{"command": "true " + strings.Repeat("x", 65000)}, "[no output]", false},
		"number timeout":   {object{"command": "echo a", "timeout": 5}, "a\n", false},
		"duration timeout": {object{"command": "echo a", "timeout": "1m"}, "a\n", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := f.run("bash", tt.in)
			if err != nil || r.Error != tt.error {
				t.Errorf("error %v, result %v", err, r)
			}
			f.same(message.PartsText(r.Parts), tt.want)
		})
	}
}

func TestBashRefusals(t *testing.T) {
	f := newFixture(t, settingsOf(`{"bash":{"timeout":"5s","max-timeout":60}}`))
	f.fails("bash", object{"command": "true", "timeout": 61}, "1m1s is more than the maximum, which is 1m0s")
	f.fails("bash", object{"command": "true", "timeout": "soon"}, `timeout: "soon" is not a time; write seconds or a duration such as 90s or 5m, at most 1m0s`)
	f.fails("bash", object{"command": "true", "workdir": f.file("a.txt", "")}, "workdir: a.txt is not a directory")
	f.fails("bash", object{"command": "true", "workdir": "~/x"}, "nothing in it is expanded")
	f.fails("bash", object{"command": "true", "timeout": 0}, "0 is not a time")
	f.fails("bash", object{"command": "true", "timeout": -1e300}, "is not a time")
	f.fails("bash", object{"command": "true", "workdir": "none"}, "none does not exist")
	f.fails("bash", object{"command": "a\x00b"}, "no NUL")
	f.fails("bash", object{"command": strings.Repeat("x", 1<<17)}, "at most 65536 bytes")
	f.fails("bash", object{"command": ""}, "command: minLength")
	f.fails("bash", object{"command": "true", "background": true}, "background")
}

func TestBashTimeoutKeepsOutput(t *testing.T) {
	f := newFixture(t)
	start := time.Now()
	r, err := f.run("bash", object{"command": "echo before; trap '' TERM; tail -f /dev/null", "timeout": 2.5})
	if err != nil || !r.Error {
		t.Errorf("error %v, result %v", err, r)
	}
	f.same(message.PartsText(r.Parts), "before\n[timed out after 2.5s; the command and all that it started were ended]")
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestBashCancelled(t *testing.T) {
	f := newFixture(t)
	started := filepath.Join(f.root, "started")
	if err := syscall.Mkfifo(started, 0o666); err != nil {
		t.Fatal(err)
	}
	plan, err := f.prepare("bash", object{"command": "echo partial; echo > started; tail -f /dev/null"})
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		os.ReadFile(started) // waits for the writer
		cancel()
	}()
	r, err := plan.Run(ctx, nil)
	if err != nil || !r.Error {
		t.Errorf("error %v, result %v", err, r)
	}
	f.same(message.PartsText(r.Parts), "partial\n[cancelled; the command and all that it started were ended]")
}

func TestBashEnvironment(t *testing.T) {
	f := newFixture(t, func(e *Env) {
		evil := filepath.Join(t.TempDir(), "evil")
		if err := os.WriteFile(evil, []byte("echo evil"), 0o666); err != nil {
			t.Fatal(err)
		}
		e.Environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nowhere", "GORACE=atexit_sleep_ms=0",
			"BASH_ENV=" + evil, "ENV=" + evil, "BASH_FUNC_ls%%=() { echo evil; }", "SHELLOPTS=xtrace", "PS4=$(echo evil >&2)",
			"ANTHROPIC_API_KEY=secret", "GITHUB_TOKEN=secret", "db_password=secret", "AWS_SECRET_ACCESS_KEY=secret", "MYKEY=secret",
			"SSH_AUTH_SOCK=/kept", "KEYBOARD=kept", "ODD_NAME=secret-of-mine",
			"COPY=secret-of-mine", "SERVICE_URL=https://me:secret-of-mine@x.example"}
		e.Secrets = []string{"ODD_NAME"}
	})
	text := f.ok("bash", object{"command": "ls; env"})
	f.has(text, "HOME=/nowhere", "SSH_AUTH_SOCK=/kept", "KEYBOARD=kept")
	if contains(text, "secret") || contains(text, "evil") {
		t.Errorf("got:\n%s", text)
	}
}

// TestBashKeepsNoState: what a call sets is gone with it.
func TestBashKeepsNoState(t *testing.T) {
	f := newFixture(t)
	f.ok("bash", object{"command": "cd /; x=1; export y=2; alias z=ls; f() { :; }; set -f; umask 0; ulimit -c 7 2>/dev/null; trap : TERM"})
	f.same(f.ok("bash", object{"command": "pwd; echo [$x$y]; type z f 2>&1 | grep -c 'not found'; echo $-; umask; trap"}), f.root+"\n[]\n2\nhBc\n"+strings.TrimSpace(umask(t))+"\n")
}

func umask(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("bash", "-c", "umask").Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestBashLongLine: a line of 1 MB loses its middle like any output.
func TestBashLongLine(t *testing.T) {
	f := newFixture(t)
	text := f.ok("bash", object{"command": "echo a; head -c 1000000 /dev/zero | tr '\\0' x; printf b"})
	f.same(text, "a\n"+strings.Repeat("x", headBytes-2)+fmt.Sprintf("\n[%d bytes cut]\n", 1000003-headBytes-tailBytes)+strings.Repeat("x", tailBytes-1)+"b")
}

func TestBashLongOutput(t *testing.T) {
	f := newFixture(t)
	text := f.ok("bash", object{"command": "echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last"})
	if len(text) > headBytes+tailBytes+100 {
		t.Errorf("%d bytes", len(text))
	}
	f.has(text, "first\nx", fmt.Sprintf("\n[%d bytes cut]\n", 6+3000000+1+5-headBytes-tailBytes), "x\nlast\n")
}

// TestOutput writes in pieces of all kinds of sizes and compares with cutting
// the whole.
func TestOutput(t *testing.T) {
	for _, piece := range []int{1, 7, 4096, tailBytes - 1, tailBytes, tailBytes + 1, 1 << 20} {
		for _, size := range []int{0, 1, headBytes, headBytes + 1, headBytes + tailBytes, headBytes + tailBytes + 1, 1 << 19} {
			var whole strings.Builder
			for i := 0; whole.Len() < size; i++ {
				fmt.Fprintf(&whole, "%d ", i)
			}
			data := whole.String()[:size]
			o := &output{}
			for rest := data; rest != ""; {
				n := min(piece, len(rest))
				o.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			want := data
			if over := size - headBytes - tailBytes; over > 0 {
				want = data[:headBytes] + fmt.Sprintf("\n[%d bytes cut]\n", over) + data[size-tailBytes:]
			} else if size == 0 {
				want = "[no output]"
			}
			if got := o.text(""); got != want {
				t.Errorf("size %d in pieces of %d: wrong", size, piece)
			}
		}
	}
}

// TestOutputIsCutBetweenCharacters, at any place, and what is no text is shown as
// such on both sides of it.
func TestOutputIsCutBetweenCharacters(t *testing.T) {
	for shift := range 5 {
		o := &output{}
		o.Write([]byte(strings.Repeat("x", shift) + "\xff" + strings.Repeat("日本🙂", 200_000) + "\xff" + strings.Repeat("y", shift)))
		text := o.text("")
		head, rest, _ := strings.Cut(text, "\n[")
		count, tail, _ := strings.Cut(rest, " bytes cut]\n")
		head = strings.TrimPrefix(head, strings.Repeat("x", shift)+"\uFFFD")
		tail = strings.TrimSuffix(tail, "\uFFFD"+strings.Repeat("y", shift))
		for _, s := range []string{head, tail} {
			if left := strings.Trim(s, "日本🙂"); left != "" {
				t.Errorf("shift %d: %q is left", shift, left)
			}
		}
		cut, err := strconv.Atoi(count)
		if kept := 2*shift + 2 + len(head) + len(tail); err != nil || kept+cut != 2*shift+2+200_000*len("日本🙂") {
			t.Errorf("shift %d: %d bytes are kept and %d cut, %v", shift, kept, cut, err)
		}
	}
}

func TestBashShowsProgress(t *testing.T) {
	f := newFixture(t)
	fifo := filepath.Join(f.root, "seen")
	plan, err := f.prepare("bash", object{"command": "while [ ! -e seen ]; do echo working; done", "timeout": 20})
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	var shown string
	r, err := plan.Run(t.Context(), func(text string) {
		shown = text
		os.WriteFile(fifo, nil, 0o666)
	})
	if err != nil || r.Error || !contains(shown, "working") {
		t.Errorf("error %v, shown %q", err, shown)
	}
}

func TestRecovery(t *testing.T) {
	f := newFixture(t)
	for name, want := range map[string]Recovery{"read": Repeat, "glob": Repeat, "grep": Repeat, "write": Unknown, "edit": Unknown, "bash": Unknown} {
		got := Unknown
		if r, ok := f.tools[name].(Recoverer); ok {
			got = r.Recovery(Call{})
		}
		if got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestDefsAreBuiltOnce(t *testing.T) {
	a, b := newFixture(t), newFixture(t)
	for _, name := range Names() {
		if a.tools[name].Def() != b.tools[name].Def() {
			t.Errorf("%s: two definitions", name)
		}
		if !json.Valid(a.tools[name].Def().Schema) {
			t.Errorf("%s: the schema is not JSON", name)
		}
	}
}

// TestOpens: what redirections need besides what the text of the line says.
func TestOpens(t *testing.T) {
	outer, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, func(e *Env) {
		e.Protected = []string{"my/agents/**", outer + "/agents"}
		e.StateDir = outer + "/state"
	})
	f.file("a.txt", "")
	f.file("d/b.txt", "")
	symlink(t, "d", f.root+"/link")
	symlink(t, outer, f.root+"/out")
	symlink(t, "a.txt", f.root+"/loop1")
	if err := os.Link(f.root+"/a.txt", f.root+"/twin.txt"); err != nil {
		t.Fatal(err)
	}
	const external, protected = permission.ExternalDirectory, permission.Protected
	type needs = []permission.Query
	for line, want := range map[string]needs{
		"ls":                       nil,
		"ls > d/b.txt < d/b.txt":   nil,
		"ls > new 2> d/new/x":      nil,
		"ls > ../x":                nil, // which the text says
		"ls > roster.yaml":         nil,
		"ls > $x":                  nil,
		"ls > 'no":                 nil,
		"ls > /dev/stdout 3> f":    nil,
		"ls > /proc/self/fd/1":     nil,
		"ls > a.txt/x":             nil, // which cannot be
		"ls > link/c":              {{Tool: "write", Subject: "d/c"}},
		"cat < link/b.txt":         {{Tool: "read", Subject: "d/b.txt"}},
		"cd link && cat < b.txt":   {{Tool: "read", Subject: "d/b.txt"}},
		"bash -c 'cat < link/b.x'": {{Tool: "read", Subject: "d/b.x"}},
		"cat <> loop1": {{Tool: "read", Subject: "a.txt"}, {Tool: "write", Subject: "a.txt"},
			{Tool: external, Subject: "a.txt"}},
		"ls >> twin.txt":      {{Tool: "write", Subject: "twin.txt"}, {Tool: external, Subject: "twin.txt"}},
		"cat < twin.txt":      nil,
		"ls > out/x":          {{Tool: "write", Subject: outer + "/x"}, {Tool: external, Subject: outer + "/x"}},
		"ls > my/agents/x.md": {{Tool: "write", Subject: "my/agents/x.md"}, {Tool: protected, Subject: "my/agents/x.md"}},
		"ls > " + outer + "/agents/x.md": {{Tool: "write", Subject: outer + "/agents/x.md"},
			{Tool: external, Subject: outer + "/agents/x.md"}, {Tool: protected, Subject: outer + "/agents/x.md"}},
	} {
		plan, err := f.prepare("bash", object{"command": line})
		if err != nil {
			t.Fatal(err)
		}
		got := plan.Needs()
		plan.Close()
		if diff := cmp.Diff(append(needs{{Tool: "bash", Subject: line}}, want...), got); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
		asked, err := Needs(Env{Root: f.root, Protected: []string{"my/agents/**", outer + "/agents"}}, "bash", line)
		if diff := cmp.Diff(got, asked); diff != "" || err != nil {
			t.Errorf("%s, asked beforehand: %v %s", line, err, diff)
		}
	}
	f.fails("bash", object{"command": "cat < out/state/roster.db"}, "roster's own state")
}
