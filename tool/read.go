package tool

import (
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
	"sync"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool/internal/pinned"
)

const (
	maxReadBytes  = 1 << 20 // of one result
	maxImageBytes = 5 << 20 // what providers take
	sniffBytes    = 8000    // looked at to tell text from binary, as git does
)

type readTool struct {
	defined
	*workspace
	readSet
	buffers *sync.Pool // of *[readBuffer]byte
}

func newReadTool(def defined, w *workspace, set readSet) *readTool {
	return &readTool{def, w, set, &sync.Pool{New: func() any { return new([readBuffer]byte) }}}
}

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
	p := &readPlan{tool: t, target: to, in: in}
	p.err = p.openTarget()
	return p, nil
}

// readPlan has the file or the directory open. err, if that failed, is told
// only to one who may know it.
type readPlan struct {
	*target
	tool *readTool
	in   readInput
	file *os.File
	dir  *pinned.Dir
	err  error
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
	buf := p.tool.buffers.Get().(*[readBuffer]byte)
	defer p.tool.buffers.Put(buf)
	in := lineReader{r: cancelled{ctx, p.file}, buf: buf[:], max: p.tool.maxLineLength}
	head, err := in.head()
	if err != nil {
		return Result{}, err
	}
	if kind := http.DetectContentType(head); isImage(kind) {
		return p.image(io.MultiReader(bytes.NewReader(head), in.r), kind)
	}
	if bytes.IndexByte(head[:min(len(head), sniffBytes)], 0) >= 0 {
		return Result{}, fmt.Errorf("%s is a binary file of %d bytes", p.subject, before.Size)
	}
	text, err := p.lines(ctx, &in, before.Size)
	if err != nil {
		return Result{}, err
	}
	return p.saw(before, Text(text)), nil
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

// lines reads the asked-for lines and not more of the file than it must. size is
// that of the file, as far as known.
func (p *readPlan) lines(ctx context.Context, in *lineReader, size int64) (string, error) {
	in.rest = bytes.TrimPrefix(in.rest, []byte("\xef\xbb\xbf"))
	var out strings.Builder
	if p.in.Offset == 1 {
		out.Grow(int(min(size, 2*readBuffer) * 5 / 4))
	}
	number, end := 0, p.in.Offset+p.in.Limit
	shown := newLineNumber(p.in.Offset)
	var line []byte
	for in.next(number+1 >= p.in.Offset) {
		if number++; number%4096 == 0 && ctx.Err() != nil {
			return "", ctx.Err()
		}
		if number < p.in.Offset {
			continue
		}
		if number == end || out.Len() > maxReadBytes {
			fmt.Fprintf(&out, "[more lines follow: go on with offset %d]\n", number)
			return valid(out.String()), nil
		}
		line = line[:0]
		if p.tool.lineNumbers {
			line = append(line, shown.bytes()...)
			shown.next()
		}
		line = append(in.append(line), '\n')
		out.Write(line)
	}
	switch {
	case in.err != io.EOF:
		return "", in.err
	case number == 0 && p.in.Offset == 1:
		return "[the file is empty]", nil
	case number < p.in.Offset:
		return "", fmt.Errorf("offset %d exceeds file length of %d lines", p.in.Offset, number)
	}
	return valid(out.String()), nil
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

func (p *readPlan) list() (Result, error) {
	names, err := p.dir.Names()
	if err != nil {
		return Result{}, err
	}
	entries := names[:0]
	for _, name := range names {
		st, err := p.dir.Lstat(name)
		shown := named(name)
		switch {
		case errors.Is(err, fs.ErrNotExist) || p.tool.state != "" && permission.Within(p.Path+"/"+name, p.tool.state):
			continue
		case st.Mode.IsDir():
			shown += "/"
		case st.Mode&fs.ModeSymlink != 0:
			shown += "@"
		}
		entries = append(entries, shown)
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
	text := strings.Join(entries[first:last], "\n") + "\n"
	if last < len(entries) {
		text += fmt.Sprintf("[%d more entries: go on with offset %d]\n", len(entries)-last, last+1)
	}
	return Text(text), nil
}
