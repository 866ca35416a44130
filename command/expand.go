package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/source"
)

// Bounds of one expansion: of the arguments and of the text that comes of it, in
// bytes, and of how many command lines and files go into it.
const (
	MaxArguments = 64 << 10
	MaxText      = 4 << 20
	MaxLines     = 32
	MaxFiles     = 32
)

// Hands do what a command asks for while it is expanded.
type Hands struct {
	// Workspace is the folder that the command is called in.
	Workspace string
	// Run gives what a command line writes, also if it fails. An error ends the
	// expansion.
	Run func(ctx context.Context, line string, at source.Origin) (string, error)
	// File gives a file, or the list of a folder. What is not there is fs.ErrNotExist;
	// another error ends the expansion.
	File func(ctx context.Context, f File) ([]message.Part, error)
}

// File is a file that a prompt names.
type File struct {
	Path string
	// Asked says that the path was among the arguments, and Inline that the content
	// stands in the text, in the place of the name.
	Asked, Inline bool
}

// Expanded is what a command comes to.
type Expanded struct {
	Parts []message.Part
	// Notes say, in sentences, what was left as it is.
	Notes []string
	Ran   int // command lines
	Files int
}

// expansion is a command on its way to a prompt.
type expansion struct {
	c         *Command
	arguments string
	words     []string
	inputs    map[string]string
	last      int // the highest argument that is named, which takes the rest in OpenCode
	hands     *Hands
	out       Expanded
	segments  []segment
	size      int
}

// segment is a piece of what is sent. from says where it is from.
type segment struct {
	from  origin
	text  string
	parts []message.Part // instead of the text
}

type origin int

const (
	fromCommand origin = iota
	fromCaller
	fromOutside // the output of a command line, or a file
)

// Expand gives the prompt that a command comes to with arguments. What is put into
// the text is not looked at for placeholders again.
func (c *Command) Expand(ctx context.Context, arguments string, hands Hands) (*Expanded, error) {
	arguments = strings.ToValidUTF8(strings.TrimSpace(arguments), "\uFFFD")
	if len(arguments) > MaxArguments {
		return nil, c.fail(c.At, fmt.Sprintf("the arguments have %d bytes, more than %d", len(arguments), MaxArguments), "put the text into a file and name that with @")
	}
	if c.Fetch != nil {
		parts, err := c.Fetch(ctx, arguments)
		return &Expanded{Parts: parts, Notes: slices.Clone(c.Lacks)}, err
	}
	parts := parse(c)
	e := &expansion{c: c, arguments: arguments, words: wordsOf(c.Kind, arguments), last: -1, hands: &hands}
	e.out.Notes = slices.Clone(c.Lacks)
	e.count(parts)
	if err := e.fill(ctx, parts); err != nil {
		return nil, err
	}
	if err := e.append(parts); err != nil {
		return nil, err
	}
	files, err := e.named(ctx)
	if err != nil {
		return nil, err
	}
	e.out.Parts = append(e.joined(), files...)
	if !slices.ContainsFunc(e.out.Parts, hasContent) {
		return nil, c.fail(c.At, "it comes to an empty prompt", "write what the agent is to do below its frontmatter")
	}
	return &e.out, nil
}

func hasContent(p message.Part) bool {
	t, isText := p.(message.Text)
	return !isText || strings.TrimSpace(t.Text) != ""
}

func (c *Command) fail(at source.Origin, message, hint string) error {
	return &Error{Command: c.Name, At: at, Message: message, Hint: hint}
}

func (e *expansion) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(e.out.Notes, n) {
		e.out.Notes = append(e.out.Notes, n)
	}
}

// count finds the last argument that is named, and what inputs are given.
func (e *expansion) count(parts []part) {
	var inputs []string
	for _, p := range parts {
		if p.is == argPart {
			e.last = max(e.last, p.nth)
		}
		if p.is == inputPart && !slices.Contains(inputs, p.text) {
			inputs = append(inputs, p.text)
		}
		e.count(p.inner)
	}
	if len(inputs) > 0 {
		e.inputs = inputsOf(inputs, e.words, e.arguments)
	}
}

// inputsOf gives each input its value: name=value, or else the next word; all of the
// text where there is one input alone.
func inputsOf(names, words []string, all string) map[string]string {
	values := map[string]string{}
	var rest []string
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		if ok && slices.Contains(names, name) {
			values[name] = value
			continue
		}
		rest = append(rest, w)
	}
	if len(names) == 1 && len(values) == 0 && all != "" {
		return map[string]string{names[0]: all}
	}
	for _, name := range names {
		if _, given := values[name]; !given && len(rest) > 0 {
			values[name], rest = rest[0], rest[1:]
		}
	}
	return values
}

func (e *expansion) add(s segment) error {
	e.size += len(s.text)
	for _, p := range s.parts {
		if t, ok := p.(message.Text); ok {
			e.size += len(t.Text)
		}
	}
	if e.size > MaxText {
		return e.c.fail(e.c.At, fmt.Sprintf("it comes to more than %d bytes", MaxText), "give it less: a file that the agent can read by itself needs no @")
	}
	e.segments = append(e.segments, s)
	return nil
}

// fill puts in what the placeholders stand for, in their order.
func (e *expansion) fill(ctx context.Context, parts []part) error {
	for i := range parts {
		s, err := e.segment(ctx, &parts[i])
		if err == nil {
			err = e.add(s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *expansion) segment(ctx context.Context, p *part) (segment, error) {
	switch p.is {
	case textPart:
		return segment{text: p.text}, nil
	case allPart:
		return segment{from: fromCaller, text: e.arguments}, nil
	case argPart:
		word, ok := e.word(p)
		if !ok {
			return segment{text: word}, nil
		}
		return segment{from: fromCaller, text: word}, nil
	case shellPart:
		text, err := e.run(ctx, p)
		return segment{from: fromOutside, text: text}, err
	case filePart:
		return e.file(ctx, p)
	case inputPart:
		value, ok := e.inputs[p.text]
		if !ok {
			return segment{}, e.c.fail(e.c.place(p.at), fmt.Sprintf("the input %q has no value", p.text), strings.TrimSuffix("give it as "+p.text+"=VALUE: "+p.hint, ": "))
		}
		return segment{from: fromCaller, text: value}, nil
	case folderPart:
		return segment{text: e.hands.Workspace}, nil
	case basePart:
		return segment{text: e.c.Base}, nil
	}
	return segment{text: path.Base(e.hands.Workspace)}, nil
}

// word is one argument; false: there is none, and the text stands in its place.
func (e *expansion) word(p *part) (string, bool) {
	if p.nth >= len(e.words) {
		if e.c.Kind == OpenCode {
			return "", true
		}
		e.note("%s is not among the arguments and is sent as it stands", p.text)
		return p.text, false
	}
	if e.c.Kind == OpenCode && p.nth == e.last {
		return strings.Join(e.words[p.nth:], " "), true
	}
	return e.words[p.nth], true
}

// run gives what a command line writes.
func (e *expansion) run(ctx context.Context, p *part) (string, error) {
	at := e.c.place(p.at)
	if e.out.Ran++; e.out.Ran > MaxLines {
		return "", e.c.fail(at, fmt.Sprintf("it has more than %d command lines", MaxLines), "put them into one script")
	}
	line, err := e.line(p, at)
	if err != nil {
		return "", err
	}
	if e.hands.Run == nil {
		return "", &Error{Command: e.c.Name, At: at, Message: "nothing can be run here, and it would run " + line, Err: ErrDenied}
	}
	out, err := e.hands.Run(ctx, line, at)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(out, "\n"), nil
}

// line puts the arguments into a command line, so that the shell takes each for text.
func (e *expansion) line(p *part, at source.Origin) (string, error) {
	var b strings.Builder
	var state lineState
	cannot := func(name string) error {
		return e.c.fail(at, fmt.Sprintf("%s cannot stand here in a command line: the shell would read the argument as more than text", name),
			"put it in double quotes, or let the command line call a script with it")
	}
	if e.takesWords(p) && twice(p.written()) {
		return "", cannot("an argument")
	}
	for i := range p.inner {
		x := &p.inner[i]
		words, given := []string{x.text}, false
		switch x.is {
		case allPart:
			words, given = e.all(state.now()), true
		case argPart:
			word, ok := e.word(x)
			words, given = []string{word}, ok
		case basePart:
			words, given = []string{e.c.Base}, true
		}
		if !given {
			b.WriteString(x.text)
			state.read(x.text)
			continue
		}
		for i, w := range words {
			quoted, ok := state.quote(w)
			if !ok {
				return "", cannot(x.text)
			}
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(quoted)
			state.put()
		}
	}
	return b.String(), nil
}

// takesWords says whether arguments stand in a command line, and there are some.
func (e *expansion) takesWords(p *part) bool {
	return slices.ContainsFunc(p.inner, func(x part) bool {
		return x.is == allPart && e.arguments != "" || x.is == argPart && x.nth < len(e.words)
	})
}

// all are the arguments as they go into a command line: a word each, or one text in
// quotes and where the source system makes one of them.
func (e *expansion) all(at place) []string {
	if e.c.Kind == Gemini || at == single || at == double {
		return []string{e.arguments}
	}
	return e.words
}

// file puts a file in the place of its name, or beside it in a system that says so.
func (e *expansion) file(ctx context.Context, p *part) (segment, error) {
	parts, err := e.read(ctx, File{Path: p.text, Inline: true})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.note("%s is not there; its name is sent as it stands", p.text)
		return segment{text: p.text}, nil
	case err != nil:
		return segment{}, err
	}
	return segment{from: fromOutside, parts: parts}, nil
}

func (e *expansion) read(ctx context.Context, f File) ([]message.Part, error) {
	if e.hands.File == nil {
		return nil, fs.ErrNotExist
	}
	parts, err := e.hands.File(ctx, f)
	if err == nil {
		if e.out.Files++; e.out.Files > MaxFiles {
			err = e.c.fail(e.c.At, fmt.Sprintf("it names more than %d files", MaxFiles), "name a folder, and the agent reads of it what it needs")
		}
	}
	return parts, err
}

// append puts the arguments behind a text that has no place for them.
func (e *expansion) append(parts []part) error {
	if e.arguments == "" || takes(parts) {
		return nil
	}
	lead := "\n\n"
	switch e.c.Kind {
	case Gemini:
		lead += "/" + e.c.Name + " "
	case Roster, Claude:
		lead += "ARGUMENTS: "
	}
	if err := e.add(segment{text: lead}); err != nil {
		return err
	}
	return e.add(segment{from: fromCaller, text: e.arguments})
}

// named gives the files that the text names behind an @: where the file or the caller
// says so, and not what a command line has written.
func (e *expansion) named(ctx context.Context) (files []message.Part, err error) {
	find := e.c.finder()
	if find == nil {
		return nil, nil
	}
	var text, from strings.Builder
	for _, s := range e.segments {
		if s.from == fromOutside {
			s.text = barrier
		}
		text.WriteString(s.text)
		from.WriteString(strings.Repeat(string(rune('0'+s.from)), len(s.text)))
	}
	seen := map[string]bool{}
	for _, m := range find(text.String()) {
		asked := strings.Trim(from.String()[m.From:m.To], string(rune('0'+fromCaller))) == ""
		parts, path, err := e.first(ctx, m, asked, seen)
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			if t, ok := p.(message.Text); ok && len(parts) == 1 {
				p = message.Text{Text: "\n\n@" + path + ":\n" + t.Text}
			}
			files = append(files, p)
		}
	}
	for _, p := range files {
		if t, ok := p.(message.Text); ok {
			e.size += len(t.Text)
		}
	}
	if e.size > MaxText {
		return nil, e.c.fail(e.c.At, fmt.Sprintf("it comes to more than %d bytes", MaxText), "a file that the agent can read by itself needs no @")
	}
	return files, nil
}

// first gives the first of the paths that may be meant and is there.
func (e *expansion) first(ctx context.Context, m Mention, asked bool, seen map[string]bool) ([]message.Part, string, error) {
	for _, path := range m.Paths {
		if seen[path] {
			return nil, path, nil
		}
		parts, err := e.read(ctx, File{Path: path, Asked: asked})
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		seen[path] = true
		return parts, path, err
	}
	if m.LikeFile() {
		e.note("@%s names no file here: it is sent as text", m.Shortest())
	}
	return nil, "", nil
}

// joined are the segments as parts: texts that follow each other are one.
func (e *expansion) joined() (parts []message.Part) {
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			parts = append(parts, message.Text{Text: text.String()})
			text.Reset()
		}
	}
	for _, s := range e.segments {
		text.WriteString(s.text)
		for _, p := range s.parts {
			if t, ok := p.(message.Text); ok {
				text.WriteString(t.Text)
				continue
			}
			flush()
			parts = append(parts, p)
		}
	}
	flush()
	return parts
}
