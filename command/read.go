package command

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/source"
)

// Read reads the file of a command. file is how diagnostics name it. There is no
// command where one of the diagnostics is an error.
func Read(kind Kind, name, file string, data []byte) (*Command, []profile.Diagnostic) {
	f := dialect.ReadFront(file, data)
	c := &Command{Name: name, Kind: kind, File: file}
	if kind == Copilot {
		c.Base = path.Dir(file)
	}
	ds := f.Diagnostics()
	if len(ds) > 0 && ds[len(ds)-1].Code == profile.CodeMissingFrontmatter { // it needs none
		c.setText(string(plainText(data)), source.Origin{File: file, Line: 1, Column: 1})
		return c, c.check(nil)
	}
	if profile.Refused(ds) {
		return nil, ds
	}
	if kind == Gemini {
		c.fromTree(f, "prompt")
		if c.At.Line > 0 && opensText(data, c.At.Line) {
			c.At.Line++
		}
	} else {
		c.setText(f.Body, f.BodyAt)
	}
	c.keys(f)
	return c, c.check(f)
}

// readMap reads the commands in the configuration of OpenCode.
func readMap(file string, data []byte) (list []*Command, ds []profile.Diagnostic) {
	f := dialect.ReadFront(file, data)
	for _, key := range []string{"command", "commands"} {
		for _, e := range f.Entries(key) {
			c := &Command{Name: e.Name, Kind: OpenCode, File: file}
			c.fromTree(e.Keys, "template")
			if c.At.Line == 0 {
				c.At = e.At
			}
			c.keys(e.Keys)
			own := c.check(e.Keys)
			if !isName(e.Name) {
				own = append(own, badName(e.At, e.Name))
			}
			if ds = append(ds, own...); !profile.Refused(own) {
				list = append(list, c)
			}
		}
	}
	return list, append(f.Diagnostics(), ds...)
}

func plainText(data []byte) []byte {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
}

// setText takes the text, without white space around it, and where it begins.
func (c *Command) setText(text string, at source.Origin) {
	c.Text = strings.TrimSpace(text)
	lead, _, _ := strings.Cut(text, c.Text)
	if n := strings.Count(lead, "\n"); n > 0 {
		at.Line, at.Column = at.Line+n, 1
	}
	c.At = source.Origin{File: at.File, Line: at.Line, Column: at.Column}
}

func (c *Command) fromTree(f *dialect.Front, key string) {
	v := f.Text(key)
	c.setText(v.V, v.At)
}

// opensText says whether a line of TOML ends where a text of several lines begins.
func opensText(data []byte, line int) bool {
	for range line - 1 {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	data, _, _ = bytes.Cut(data, []byte("\n"))
	data = bytes.TrimRight(data, "\r")
	return bytes.HasSuffix(data, []byte(`"""`)) || bytes.HasSuffix(data, []byte("'''"))
}

// keys reads what stands before the text.
func (c *Command) keys(f *dialect.Front) {
	c.Description = oneLine(f.Text("description").V)
	if c.Kind == Gemini {
		return
	}
	c.Hint = oneLine(f.Bracketed("argument-hint").V)
	if c.Model = strings.TrimSpace(f.Text("model").V); c.Model == "inherit" || c.Kind == Copilot {
		c.Model = ""
	}
	c.Profile = strings.TrimSpace(f.Text("agent").V)
	switch c.Kind {
	case Roster, Claude:
		c.Allows = f.Allows("allowed-tools")
		c.Arguments = argumentNames(f.List("arguments").V)
		f.Flag("disable-model-invocation") // no model calls commands here
		if v := f.Text("context"); v.V == "fork" {
			c.lack("context: fork: it would run as an agent of its own; here the session itself runs it")
		}
		if f.At("hooks").Line > 0 {
			c.lack("hooks: those of a command do not run; write them in the profile")
		}
	case OpenCode:
		if f.Flag("subtask").V {
			c.lack("subtask: it would run as an agent of its own; here the session itself runs it")
		}
	case Copilot:
		c.copilot(f)
	}
}

func argumentNames(list []string) (names []string) {
	for _, item := range list {
		names = append(names, strings.Fields(item)...)
	}
	return names
}

// copilot reads what only the prompt files of Copilot have.
func (c *Command) copilot(f *dialect.Front) {
	if mode := strings.TrimSpace(f.Text("mode").V); c.Profile == "" {
		c.Profile = mode
	}
	if slices.Contains([]string{"ask", "edit", "agent", "plan"}, c.Profile) {
		c.lack("agent: %s: that is a way of working of the editor; the profile that is run says how", c.Profile)
		c.Profile = ""
	}
	if f.Text("model").Set {
		c.lack("model: it names models as the editor shows them; the profile's is asked")
	}
	if f.At("tools").Line > 0 {
		c.lack("tools: they are not narrowed to these; the profile's rules hold")
	}
}

func (c *Command) lack(format string, args ...any) {
	c.Lacks = append(c.Lacks, fmt.Sprintf(format, args...))
}

// missing are variables of other systems that have no value here.
var missing = regexp.MustCompile(`\$\{(CLAUDE_[A-Z_]+|selection|selectedText|lineNumber|file[A-Za-z]*|relativeFile[A-Za-z]*|activeEditor[A-Za-z]*|cwd|userHome|env:\w+|command:[\w.]+|config:[\w.]+)\}|#tool:[\w./-]+`)

// check says what is wrong with a command, and names what it lacks.
func (c *Command) check(f *dialect.Front) []profile.Diagnostic {
	if c.Kind == Claude || c.Kind == Copilot || c.Kind == Roster {
		var seen []string
		for _, v := range missing.FindAllString(c.Text, -1) {
			if !slices.Contains(seen, v) && (c.Kind == Copilot) != strings.HasPrefix(v, "${CLAUDE_") {
				seen = append(seen, v)
				c.lack("%s: it has no value here, and is sent as it stands", v)
			}
		}
	}
	var ds []profile.Diagnostic
	if f != nil {
		f.Unread("commands", "name", "title", "tools", "context", "hooks", "user-invocable", "when-to-use", "template", "prompt")
		ds = f.Diagnostics()
	}
	at := c.At
	at.File = c.File
	if c.Text == "" {
		return append(ds, profile.Diagnose(profile.CodeCommandText, at, "", "the command has no text to send", "write below the frontmatter what the agent is to do"))
	}
	for _, l := range c.Lacks {
		ds = append(ds, profile.Diagnose(profile.CodeCommandLacks, at, "", l, ""))
	}
	return ds
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func badName(at source.Origin, name string) profile.Diagnostic {
	return profile.Diagnose(profile.CodeCommandName, at, "", fmt.Sprintf("%q cannot be the name of a command", name),
		"name it with letters, digits and any of . _ -, without blanks")
}
