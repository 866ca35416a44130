package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocs runs every command that README.md and docs show: the lines that
// begin with "$ " in console blocks. What a block shows below a command must be
// what the command writes, on either stream; "…" stands for any text and, alone
// in a line, for any lines. A command that fails says so with "echo $?".
//
// The commands of one file run in one shell, in a copy of the example workspace, or of
// the example whose file it is, with the documentation where it stands. At the end nothing that they started is running.
func TestDocs(t *testing.T) {
	files := []string{"README.md"}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md", "examples/*/README.md"} {
		more, err := filepath.Glob(filepath.Join(root(t), pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range more {
			rel, err := filepath.Rel(root(t), path)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, rel)
		}
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			testDoc(t, file)
		})
	}
}

// shown is one command of a document, and what is shown below it.
type shown struct {
	line    int
	command string
	output  string
}

func commandsOf(text string) []shown {
	var all []shown
	console := false
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			console = line == "```console"
		case !console:
		case strings.HasPrefix(line, "$ "):
			all = append(all, shown{line: i + 1, command: line[len("$ "):]})
		case len(all) > 0 && goesOn(all[len(all)-1].command):
			all[len(all)-1].command += "\n" + line
		case len(all) > 0:
			all[len(all)-1].output += line + "\n"
		}
	}
	return all
}

// goesOn says whether the next line belongs to a command: it ends with a backslash, or
// in a text that the command is given until a line END.
func goesOn(command string) bool {
	return strings.HasSuffix(command, `\`) || strings.Contains(command, "<<'END'\n") && !strings.HasSuffix(command, "\nEND") ||
		strings.HasSuffix(command, "<<'END'")
}

func testDoc(t *testing.T, file string) {
	text, err := os.ReadFile(filepath.Join(root(t), file))
	if err != nil {
		t.Fatal(err)
	}
	commands := commandsOf(string(text))
	if len(commands) == 0 {
		return
	}
	workspace := "examples/workspace"
	if strings.HasPrefix(file, "examples/") {
		workspace = filepath.Dir(file)
	}
	dir := t.TempDir()
	for _, folder := range []string{"docs", workspace} {
		if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join(root(t), folder))); err != nil {
			t.Fatal(err)
		}
	}
	sh := newShell(t, dir, filepath.Join(dir, workspace))
	port := freePort(t)
	for _, c := range commands {
		command := strings.ReplaceAll(c.command, "7788", port)
		if strings.HasPrefix(command, "make ") {
			command = fmt.Sprintf("make -C %s -n %s >/dev/null", root(t), strings.TrimPrefix(command, "make "))
			c.output = ""
		}
		got, code := sh.run(t, command)
		got = strings.ReplaceAll(got, port, "7788")
		if code != "0" {
			t.Fatalf("%s:%d: $ %s\nexit code %s\n%s", file, c.line, c.command, code, got)
		}
		if c.output != "" && !matches(c.output, got) {
			t.Errorf("%s:%d: $ %s\ngot:\n%s\nshown:\n%s", file, c.line, c.command, got, c.output)
		}
	}
	if left, _ := sh.run(t, "jobs -r"); left != "" {
		t.Errorf("%s: who follows the page is left with what it started; end it with \"kill %%1; wait %%1\":\n%s", file, left)
	}
}

// matches compares an output with what is shown of it.
func matches(shown, got string) bool {
	pattern := regexp.QuoteMeta(strings.TrimSpace(shown))
	pattern = regexp.MustCompile(`(?m)^…$\n?`).ReplaceAllString(pattern, `(?s:.*)`)
	pattern = strings.ReplaceAll(pattern, "…", `.*`)
	return regexp.MustCompile(`^` + pattern + `$`).MatchString(strings.TrimSpace(got))
}

// shell is a bash that is given one command after another.
type shell struct {
	in  io.Writer
	out *bufio.Reader
}

const mark = "--- end of the command:"

func newShell(t *testing.T, home, dir string) *shell {
	// Not the test's context: it ends before the cleanup does, and a killed shell ends nothing of its own.
	ctx, cancel := context.WithTimeout(context.Background(), 10*patience)
	cmd := exec.CommandContext(ctx, "bash", "--noprofile", "--norc")
	cmd.Dir, cmd.Env = dir, environment(home)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait(); cancel() })
	io.WriteString(in, "trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT; exec 2>&1\n")
	return &shell{in, bufio.NewReader(out)}
}

// run gives what a command writes, and its exit code.
func (s *shell) run(t *testing.T, command string) (output, code string) {
	fmt.Fprintf(s.in, "{ %s\n} </dev/null\necho; echo %q $?\n", command, mark)
	var b strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			t.Fatalf("$ %s: %v\n%s", command, err, b.String())
		}
		if rest, ok := strings.CutPrefix(line, mark); ok {
			return strings.TrimSuffix(b.String(), "\n"), strings.TrimSpace(rest)
		}
		b.WriteString(line)
	}
}

func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
