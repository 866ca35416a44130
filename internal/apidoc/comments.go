package apidoc

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// comments reads what the source says of types: it is what the document says.
type comments struct {
	root, module string
	packages     map[string]*pkg
	err          error
}

// pkg is what is known of a package: types and fields by their names, and the texts
// that constants of a type have.
type pkg struct {
	types, fields map[string]string
	values        map[string][]string
}

func (c *comments) load(path string) *pkg {
	if p := c.packages[path]; p != nil {
		return p
	}
	p := &pkg{map[string]string{}, map[string]string{}, map[string][]string{}}
	c.packages[path] = p
	rel, ok := strings.CutPrefix(path, c.module)
	if !ok {
		return p
	}
	files, err := filepath.Glob(filepath.Join(c.root, rel, "*.go"))
	if err != nil {
		c.err = err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			c.err = err
			return p
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				p.note(g)
			}
		}
	}
	return p
}

func (p *pkg) note(g *ast.GenDecl) {
	for _, s := range g.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			doc := s.Doc
			if doc == nil {
				doc = g.Doc
			}
			p.types[s.Name.Name] = text(doc, nil)
			if st, ok := s.Type.(*ast.StructType); ok {
				p.noteFields(s.Name.Name, st)
			}
		case *ast.ValueSpec:
			id, ok := s.Type.(*ast.Ident)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, v := range s.Values {
				if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if one, err := strconv.Unquote(lit.Value); err == nil {
						p.values[id.Name] = append(p.values[id.Name], one)
					}
				}
			}
		}
	}
}

func (p *pkg) noteFields(name string, st *ast.StructType) {
	for _, f := range st.Fields.List {
		for _, id := range f.Names {
			p.fields[name+"."+id.Name] = text(f.Doc, f.Comment)
		}
	}
}

// text joins the lines of a comment into one.
func text(groups ...*ast.CommentGroup) string {
	var all []string
	for _, g := range groups {
		if g != nil {
			all = append(all, strings.Join(strings.Fields(g.Text()), " "))
		}
	}
	return strings.Join(all, " ")
}

// of is what the comment of a type says.
func (c *comments) of(t reflect.Type) string { return c.load(t.PkgPath()).types[t.Name()] }

// field is what the comment of a field says.
func (c *comments) field(t reflect.Type, name string) string {
	return c.load(t.PkgPath()).fields[t.Name()+"."+name]
}

// values are the constants of a type that is a text; none: any text.
func (c *comments) values(t reflect.Type) []string {
	if t.PkgPath() == "" {
		return nil
	}
	return c.load(t.PkgPath()).values[t.Name()]
}
