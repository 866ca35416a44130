// Package knowledge has the tools that look things up in folders of texts:
// knowledge_list, knowledge_read and knowledge_search. The words of the files are
// kept in an index, which follows the files by itself. What `read` would not be
// allowed is not shown.
package knowledge

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/contract"
)

// The names of the tools.
const (
	ListName   = "knowledge_list"
	ReadName   = "knowledge_read"
	SearchName = "knowledge_search"
)

const (
	maxFolders  = 16
	listed      = 500 // files of one call
	perFile     = 3   // sections of one file among the results
	shownLines  = 3   // of a section
	maxLine     = 300 // bytes of one
	maxPathText = 4096
)

// NoFolder is why the tools are not offered where no folder is named.
const NoFolder = "no folder is named: tool-settings.knowledge_search.folders in the profile, such as [docs]"

// Options say where things are looked up.
type Options struct {
	// Settings are those of knowledge_search.
	Settings json.RawMessage
	// Root is the workspace, absolute; folders are relative to it.
	Root string
	// Indexes is where the indexes are kept, in roster's own state.
	Indexes string
	// Hidden is a folder that is passed over: roster's own state.
	Hidden string
	// Read is the tool that reads files.
	Read tool.Tool
}

// Folders reads the folders out of the settings of knowledge_search.
func Folders(settings json.RawMessage) ([]string, error) {
	var folders []string
	var limit int
	err := contract.Read(SearchName, settings, contract.Into{"folders": &folders, "limit": &limit})
	if err == nil && len(folders) > maxFolders {
		err = &tool.SettingError{Tool: SearchName, Key: "folders", Problem: fmt.Sprintf("there are %d, of which at most %d can be searched", len(folders), maxFolders)}
	}
	return folders, err
}

type base struct {
	Options
	folders []string
	limit   int
}

// New makes the tools. The error is one of the settings.
func New(o Options) ([]tool.Tool, error) {
	b := &base{Options: o}
	folders, err := Folders(o.Settings)
	if err != nil {
		return nil, err
	}
	if err := contract.Read(SearchName, o.Settings, contract.Into{"folders": &b.folders, "limit": &b.limit}); err != nil {
		return nil, err
	}
	for _, f := range folders {
		if strings.ContainsRune(f, 0) || len(f) > maxPathText {
			return nil, &tool.SettingError{Tool: SearchName, Key: "folders", Problem: fmt.Sprintf("%q is no path", f)}
		}
	}
	if real, err := filepath.EvalSymlinks(o.Root); err == nil {
		b.Root = real
	}
	if real, err := filepath.EvalSymlinks(o.Hidden); err == nil {
		b.Hidden = permission.Fold(real)
	}
	var all []tool.Tool
	for _, name := range []string{ListName, ReadName, SearchName} {
		t := knowledgeTool{b, definition(name, o.Settings, folders)}
		if len(folders) == 0 {
			all = append(all, missing{t})
		} else {
			all = append(all, t)
		}
	}
	return all, nil
}

func definition(name string, settings json.RawMessage, folders []string) *model.ToolDef {
	if name != SearchName {
		settings = nil
	}
	return tool.Define(name, settings, "The folders are: "+strings.Join(folders, ", ")+".")
}

type knowledgeTool struct {
	*base
	def *model.ToolDef
}

// missing is a tool that has no folder.
type missing struct{ knowledgeTool }

func (missing) Withheld() string { return NoFolder }

func (t knowledgeTool) Def() *model.ToolDef { return t.def }

// Recovery implements tool.Recoverer: it only reads.
func (t knowledgeTool) Recovery(tool.Call) tool.Recovery { return tool.Repeat }

// Conflicts implements tool.Conflicter: an index is brought up to date by one call at
// a time.
func (t knowledgeTool) Conflicts(tool.Call) []string {
	if t.def.Name == ReadName {
		return nil
	}
	return []string{"knowledge"}
}

type input struct {
	Query  string `json:"query"`
	Path   string `json:"path"`
	Limit  int    `json:"limit"`
	Offset int    `json:"offset"`
}

func (t knowledgeTool) Prepare(ctx context.Context, c tool.Call) (tool.Plan, error) {
	var in input
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return nil, fmt.Errorf("the input cannot be read: %w", err)
	}
	folders, err := t.resolve()
	if err != nil {
		return nil, err
	}
	if t.def.Name == ReadName {
		return t.prepareRead(ctx, c, in, folders)
	}
	p := &plan{tool: t, in: in, permit: c.Permit, folders: folders}
	if t.def.Name == SearchName {
		p.query, err = parseQuery(in.Query)
	}
	return p, err
}

// folder is one of the folders, as rules see it and where it is.
type folder struct {
	subject string
	outside bool
	dir     string
}

// resolve follows the links of the folders.
func (b *base) resolve() ([]folder, error) {
	var all []folder
	for _, name := range b.folders {
		dir := name
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(b.Root, dir)
		}
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return nil, fmt.Errorf("the folder %s, which tool-settings.%s.folders names, is not there: %w", name, SearchName, err)
		}
		if b.Hidden != "" && permission.Within(real, b.Hidden) {
			return nil, &tool.StateDirError{Path: real}
		}
		f := folder{dir: real}
		f.subject, f.outside = b.subject(real)
		all = append(all, f)
	}
	return all, nil
}

// subject is a real path as rules see it.
func (b *base) subject(real string) (string, bool) {
	rel, err := filepath.Rel(b.Root, real)
	if err != nil || !filepath.IsLocal(rel) {
		return real, true
	}
	return filepath.ToSlash(rel), false
}

// prepareRead leaves a file to the tool that reads files, if that finds it in one of
// the folders.
func (t knowledgeTool) prepareRead(ctx context.Context, c tool.Call, in input, folders []folder) (tool.Plan, error) {
	inner := map[string]any{"path": in.Path}
	if in.Offset > 0 {
		inner["offset"] = in.Offset
	}
	if in.Limit > 0 {
		inner["limit"] = in.Limit
	}
	var err error
	if c.Input, err = json.Marshal(inner); err != nil {
		return nil, err
	}
	p, err := t.Read.Prepare(ctx, c)
	if err != nil {
		return nil, err
	}
	needs := p.Needs()
	if len(needs) == 0 || !slices.ContainsFunc(folders, func(f folder) bool { return f.holds(needs[0].Subject) }) {
		p.Close()
		return nil, fmt.Errorf("%s is not in the knowledge base: %s lists what is", in.Path, ListName)
	}
	return readPlan{p}, nil
}

// holds says of a path as rules see it that it lies in the folder.
func (f folder) holds(subject string) bool {
	return f.subject == "." && !filepath.IsAbs(subject) || subject == f.subject || strings.HasPrefix(subject, strings.TrimSuffix(f.subject, "/")+"/")
}

type readPlan struct{ tool.Plan }

func (p readPlan) Needs() []permission.Query {
	needs := p.Plan.Needs()
	return append([]permission.Query{{Tool: ReadName, Subject: needs[0].Subject}}, needs...)
}

type plan struct {
	tool    knowledgeTool
	in      input
	query   query
	permit  *permission.Engine
	folders []folder
	denied  int
	left    left
}

func (p *plan) Needs() []permission.Query {
	var needs []permission.Query
	for _, f := range p.folders {
		needs = append(needs, permission.Query{Tool: p.tool.def.Name, Subject: f.subject})
		if f.outside {
			needs = append(needs, permission.Query{Tool: permission.ExternalDirectory, Subject: f.subject})
		}
	}
	return needs
}

func (p *plan) Close() error { return nil }

// readable says whether a file may be read.
func (p *plan) readable(subject string, outside bool) bool {
	q := []permission.Query{{Tool: "read", Subject: subject}}
	if outside {
		q = append(q, permission.Query{Tool: permission.ExternalDirectory, Subject: subject})
	}
	return p.permit.Decide(q...).Effect == permission.Allow
}

// with opens the index of each folder, up to date.
func (p *plan) with(ctx context.Context, progress func(string), do func(folder, *index) error) error {
	for _, f := range p.folders {
		if progress != nil {
			progress(f.subject)
		}
		x, err := openIndex(ctx, p.tool.Indexes, f.dir)
		if err != nil {
			return err
		}
		if err = x.refresh(ctx, p.tool.Hidden); err == nil {
			err = do(f, x)
		}
		x.close()
		if err != nil {
			return fmt.Errorf("%s: %w", f.subject, err)
		}
		p.left.links += x.left.links
		p.left.unreadable += x.left.unreadable
		p.left.cut += x.left.cut
		p.left.full = p.left.full || x.left.full
	}
	return nil
}

func (p *plan) Run(ctx context.Context, progress func(string)) (tool.Result, error) {
	var text string
	var err error
	if p.tool.def.Name == ListName {
		text, err = p.list(ctx, progress)
	} else {
		text, err = p.search(ctx, progress)
	}
	if err != nil {
		return tool.Result{}, err
	}
	return tool.Text(text + p.notes()), nil
}

func (p *plan) list(ctx context.Context, progress func(string)) (string, error) {
	var lines []string
	err := p.with(ctx, progress, func(f folder, x *index) error {
		all, err := x.list(ctx)
		for _, e := range all {
			subject := path.Join(f.subject, e.path)
			switch {
			case p.in.Path != "" && !(folder{subject: path.Clean(p.in.Path)}).holds(subject):
			case !p.readable(subject, f.outside):
				p.denied++
			default:
				line := fmt.Sprintf("%s (%d lines)", named(subject), e.lines)
				if e.title != "" {
					line += ": " + oneLine(e.title)
				}
				lines = append(lines, line)
			}
		}
		return err
	})
	if err != nil {
		return "", err
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	from := min(max(p.in.Offset-1, 0), len(lines))
	to := min(from+listed, len(lines))
	var b strings.Builder
	for _, line := range lines[from:to] {
		b.WriteString(line + "\n")
	}
	switch {
	case len(lines) == 0:
		b.WriteString("[no files]\n")
	case to < len(lines):
		fmt.Fprintf(&b, "[%d of %d files; go on with offset %d]\n", to-from, len(lines), to+1)
	}
	return b.String(), nil
}

// notes says what is not among the results.
func (p *plan) notes() string {
	var b strings.Builder
	say := func(n int, format string) {
		if n > 0 {
			files := "files"
			if n == 1 {
				files = "file"
			}
			fmt.Fprintf(&b, format, n, files)
		}
	}
	say(p.denied, "[%d %s left out: the permission rules do not allow to read]\n")
	say(p.left.unreadable, "[%d %s or folders could not be read]\n")
	say(p.left.links, "[%d %s left out that are links]\n")
	say(p.left.cut, "[%d %s of more than 2 MiB: only their beginning is searched]\n")
	if p.left.full {
		fmt.Fprintf(&b, "[a folder has more than %d files, %d MiB or %d levels: the rest is not searched]\n", maxFiles, maxTotal>>20, maxDepth)
	}
	return b.String()
}

// named writes a path as one line that is nothing but this path.
func named(subject string) string {
	if strings.ContainsFunc(subject, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		return strconv.Quote(subject)
	}
	return subject
}

// oneLine is a text without what would break its line or could not be seen.
func oneLine(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text))
}
