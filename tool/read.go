package tool

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool/internal/pinned"
)

const (
	maxReadBytes  = 1 << 20 // of one result
	maxImageBytes = 5 << 20 // what providers take
	sniffBytes    = 8000    // looked at to tell text from binary, as git does
)

var readDef = def("read", "Read a text file as numbered lines, look at an image, list a directory, or open what was left out of a result (artifact:…). "+
	"Long files come in pieces: go on with offset.", `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "minLength": 1, "description": "File or directory, relative to the workspace or absolute; or artifact:…"},
    "offset": {"type": "integer", "minimum": 1, "description": "First line to read, from 1"},
    "limit": {"type": "integer", "minimum": 1, "description": "How many lines to read"}
  },
  "required": ["path"],
  "additionalProperties": false
}`)

type readTool struct {
	*workspace
	readSet
}

func (t *readTool) Def() *model.ToolDef    { return readDef }
func (t *readTool) Recovery(Call) Recovery { return Repeat }

type readInput struct {
	Path   string `json:"path"`
	Offset int    `json:"offset"`
	Limit  int    `json:"limit"`
}

func (t *readTool) Prepare(_ context.Context, c Call) (Plan, error) {
	in, err := decode[readInput](c)
	if err != nil {
		return nil, err
	}
	if in.Limit <= 0 || in.Limit > t.limit {
		in.Limit = t.limit
	}
	in.Offset = max(in.Offset, 1)
	if strings.HasPrefix(in.Path, ArtifactPrefix) {
		return newArtifact(t, c, in)
	}
	to, err := t.open(in.Path)
	if err != nil {
		return nil, err
	}
	p := &readPlan{tool: t, target: to, in: in, session: c.Session}
	p.err = p.openTarget()
	return p, nil
}

// readPlan has the file or the directory open. err, if that failed, is told
// only to one who may know it.
type readPlan struct {
	*target
	tool    *readTool
	in      readInput
	session string
	file    *os.File
	dir     *pinned.Dir
	err     error
}

func (p *readPlan) openTarget() error {
	st, err := p.Lstat()
	switch {
	case err != nil:
		return notFound(p.subject, err)
	case st.Mode.IsDir():
		p.dir, err = p.OpenDir()
	case st.Mode.IsRegular():
		p.file, err = p.Open()
	default:
		err = notRegular(p.subject, st.Mode)
	}
	return err
}

// notFound says in plain words what most often is wrong with a path.
func notFound(subject string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s does not exist", subject)
	}
	return err
}

func notRegular(subject string, mode fs.FileMode) error {
	kind := "a device"
	switch {
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode.IsDir():
		kind = "a directory"
	}
	return fmt.Errorf("%s is %s, not a regular file", subject, kind)
}

func (p *readPlan) Needs() []permission.Query { return reads("read", p.subject, p.outside) }

func (p *readPlan) Close() error {
	var errs []error
	if p.file != nil {
		errs = append(errs, p.file.Close())
	}
	if p.dir != nil {
		errs = append(errs, p.dir.Close())
	}
	return errors.Join(append(errs, p.target.Close())...)
}

func (p *readPlan) Run(ctx context.Context, _ func(string)) (Result, error) {
	switch {
	case p.err != nil:
		return Result{}, p.err
	case p.dir != nil:
		return p.list()
	}
	before, err := pinned.StatFile(p.file)
	if err != nil {
		return Result{}, err
	}
	r := bufio.NewReaderSize(cancelled{ctx, p.file}, 64<<10)
	head, err := r.Peek(sniffBytes)
	if err != nil && err != io.EOF {
		return Result{}, err
	}
	if kind := http.DetectContentType(head); isImage(kind) {
		return p.image(r, kind)
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return Result{}, fmt.Errorf("%s is a binary file of %d bytes", p.subject, before.Size)
	}
	text, err := p.lines(ctx, r)
	if err != nil {
		return Result{}, err
	}
	p.tool.ledger.note(p.session, p.Path, before)
	return Text(text), nil
}

func isImage(kind string) bool {
	return slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind)
}

func (p *readPlan) image(r io.Reader, kind string) (Result, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxImageBytes+1))
	if err != nil {
		return Result{}, err
	}
	if len(data) > maxImageBytes {
		return Result{}, fmt.Errorf("%s is an image of more than %d bytes, which is too large to look at", p.subject, maxImageBytes)
	}
	return Result{Parts: []message.Part{
		message.Text{Text: fmt.Sprintf("%s (%s, %d bytes)", p.subject, kind, len(data))},
		message.Image{MediaType: kind, Data: data},
	}}, nil
}

// lines reads the asked-for lines and not more of the file than it must.
func (p *readPlan) lines(ctx context.Context, r *bufio.Reader) (string, error) {
	if bom, _ := r.Peek(3); string(bom) == "\xef\xbb\xbf" {
		r.Discard(3)
	}
	var out strings.Builder
	in := lineReader{r: r, max: p.tool.maxLineLength}
	end := p.in.Offset + p.in.Limit
	number := 0
	for in.next(number+1 >= p.in.Offset) {
		if number++; number%4096 == 0 && ctx.Err() != nil {
			return "", ctx.Err()
		}
		if number < p.in.Offset {
			continue
		}
		if number == end || out.Len() > maxReadBytes {
			fmt.Fprintf(&out, "[more lines follow: go on with offset %d]\n", number)
			return out.String(), nil
		}
		if p.tool.lineNumbers {
			fmt.Fprintf(&out, "%6d\t", number)
		}
		out.WriteString(in.text())
		out.WriteByte('\n')
	}
	switch {
	case in.err != nil:
		return "", in.err
	case number == 0 && p.in.Offset == 1:
		return "[the file is empty]", nil
	case number < p.in.Offset:
		return "", fmt.Errorf("offset %d exceeds file length of %d lines", p.in.Offset, number)
	}
	return out.String(), nil
}

// cancelled reads until ctx ends.
type cancelled struct {
	ctx context.Context
	r   io.Reader
}

func (c cancelled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// lineReader reads lines of any length and keeps the first max characters.
type lineReader struct {
	r    *bufio.Reader
	max  int
	line []byte
	cut  int // bytes left out
	err  error
}

// next goes to the next line; without keep its text is not wanted.
func (l *lineReader) next(keep bool) bool {
	l.line, l.cut = l.line[:0], 0
	room := l.max*utf8.UTFMax + 1
	for got := false; ; got = true {
		piece, err := l.r.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull && err != io.EOF {
			l.err = err
			return false
		}
		if keep {
			n := min(len(piece), room-len(l.line))
			l.line = append(l.line, piece[:n]...)
			l.cut += len(piece) - n
		}
		if err == nil {
			l.cut = max(l.cut-1, 0) // the line's end was not text
			return true
		}
		if err == io.EOF {
			return got || len(piece) > 0
		}
	}
}

// text is the line without its ending, as valid UTF-8.
func (l *lineReader) text() string {
	line := l.line
	if l.cut == 0 {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	}
	return cutLine(line, l.max, l.cut)
}

// cutLine keeps max characters; more is the number of bytes that were left out
// before.
func cutLine(line []byte, max, more int) string {
	if len(line) <= max && more == 0 {
		return strings.ToValidUTF8(string(line), "\uFFFD")
	}
	end := 0
	for range max {
		if end == len(line) {
			break
		}
		_, n := utf8.DecodeRune(line[end:])
		end += n
	}
	text := strings.ToValidUTF8(string(line[:end]), "\uFFFD")
	if more += len(line) - end; more > 0 {
		text += fmt.Sprintf(" [line cut, %d more bytes]", more)
	}
	return text
}

func (p *readPlan) list() (Result, error) {
	names, err := p.dir.Names()
	if err != nil {
		return Result{}, err
	}
	entries := names[:0]
	for _, name := range names {
		st, err := p.dir.Lstat(name)
		switch {
		case err != nil || p.tool.state != "" && permission.Within(p.Path+"/"+name, p.tool.state):
			continue
		case st.Mode.IsDir():
			name += "/"
		case st.Mode&fs.ModeSymlink != 0:
			name += "@"
		}
		entries = append(entries, name)
	}
	slices.Sort(entries)
	first := p.in.Offset - 1
	if first > 0 && first >= len(entries) {
		return Result{}, fmt.Errorf("offset %d exceeds the directory's %d entries", p.in.Offset, len(entries))
	}
	if len(entries) == 0 {
		return Text("[the directory is empty]"), nil
	}
	last := min(first+p.in.Limit, len(entries))
	text := strings.ToValidUTF8(strings.Join(entries[first:last], "\n"), "\uFFFD") + "\n"
	if last < len(entries) {
		text += fmt.Sprintf("[%d more entries: go on with offset %d]\n", len(entries)-last, last+1)
	}
	return Text(text), nil
}
