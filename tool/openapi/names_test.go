package openapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/tool/openapi"
)

func ids(d *openapi.Document) []string {
	var all []string
	for _, op := range d.Operations {
		all = append(all, op.ID)
	}
	return all
}

func TestIDs(t *testing.T) {
	long := strings.Repeat("long", 20)
	d := load(t, `
openapi: 3.0.0
paths:
  /a:
    get: {operationId: repos/get-content}
    put: {operationId: 'list users (all)'}
    post: {operationId: 'x y'}
    patch: {operationId: x_y}
    head: {operationId: same}
  /b/c:
    head: {operationId: same}
    get: {}
    put: {operationId: ''}
    post: {operationId: '漢字'}
    patch: {operationId: `+long+`}
    options: {operationId: 7}
    delete: {operationId: `+strings.Repeat("x", 300)+`}
`, openapi.Options{})
	want := []string{"repos_get-content", "list_users_all", "x_y_17e1c7", "x_y_6e0fd8", "same_6f4a5c", "same_b27ffe",
		"get_b_c", "put_b_c", "post_b_c", long[:55] + "_bc6af2a3", "7", "delete_b_c"}
	got := ids(d)
	for i := range want {
		if head, _, ok := strings.Cut(want[i], "_"); i < len(got) && got[i] != want[i] && !(ok && (strings.HasPrefix(got[i], head+"_") && len(got[i]) == len(want[i]))) {
			t.Errorf("got %s, want %s", got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %q", got)
	}
	wantProblems(t, d.Problems, "its operationId is not used: it has more than 256 bytes", `its operationId "same" is also that of HEAD /a; it is called `)
}

// TestIDsDoNotMove: the ID of an operation is the same whatever the order of
// operations and the filter.
func TestIDsDoNotMove(t *testing.T) {
	const a, b, c = "  /a: {get: {operationId: 'x y'}}\n", "  /b: {get: {operationId: x_y}}\n", "  /c: {get: {operationId: z}}\n"
	at := func(paths string, o openapi.Options) map[string]string {
		all := map[string]string{}
		for _, op := range load(t, "openapi: 3.0.0\npaths:\n"+paths, o).Operations {
			all[op.Path] = op.ID
		}
		return all
	}
	first := at(a+b+c, openapi.Options{})
	if second := at(c+b+a, openapi.Options{}); fmt.Sprint(first) != fmt.Sprint(second) {
		t.Errorf("%v and %v", first, second)
	}
	if chosen := at(a+b+c, openapi.Options{Filter: openapi.Filter{Paths: []string{"/b"}}}); chosen["/b"] != first["/b"] || len(chosen) != 1 {
		t.Errorf("%v and %v", first, chosen)
	}
	if first["/a"] == first["/b"] || first["/a"] == "x_y" || first["/c"] != "z" {
		t.Errorf("%v", first)
	}
}

func TestFilter(t *testing.T) {
	const text = `
openapi: 3.0.0
paths:
  /pets: {get: {operationId: pets/list, tags: [pets]}, post: {operationId: pets/add, tags: [pets, write]}}
  /pets/{id}: {get: {operationId: pets/get, tags: [pets], parameters: [{name: id, in: path}]}}
  /petsitters: {get: {tags: [people]}}
`
	for _, c := range []struct {
		name, want string
		f          openapi.Filter
		problems   []string
	}{
		{"none", "pets_list pets_add pets_get get_petsitters", openapi.Filter{}, nil},
		{"an ID", "pets_get", openapi.Filter{Operations: []string{"pets_get"}}, nil},
		{"an operationId", "pets_get", openapi.Filter{Operations: []string{"pets/get"}}, nil},
		{"any text", "pets_list pets_add pets_get", openapi.Filter{Operations: []string{"pets/*"}}, nil},
		{"any text within", "pets_list pets_get get_petsitters", openapi.Filter{Operations: []string{"*_*i*t*", "pets*get"}}, nil},
		{"a tag", "pets_add get_petsitters", openapi.Filter{Tags: []string{"write", "people"}}, nil},
		{"a path", "pets_list pets_add pets_get", openapi.Filter{Paths: []string{"/pets"}}, nil},
		{"below a path", "pets_get", openapi.Filter{Paths: []string{"/pets/"}}, nil},
		{"all paths", "pets_list pets_add pets_get get_petsitters", openapi.Filter{Paths: []string{"/"}}, nil},
		{"a method", "pets_list pets_get get_petsitters", openapi.Filter{Methods: []string{"get"}}, nil},
		{"several lists", "pets_list pets_get", openapi.Filter{Methods: []string{"GET"}, Tags: []string{"pets"}}, nil},
		{"nothing of all", "", openapi.Filter{Methods: []string{"POST"}, Tags: []string{"people"}}, nil},
		{"words that fit nothing", "pets_get", openapi.Filter{Operations: []string{"pets_get", "pets_put"}, Methods: []string{"GET", "FETCH"}},
			[]string{`api.yaml: operations: "pets_put" fits no operation of the document`, `methods: "FETCH" fits no operation`}},
		{"no star in the middle of a name", "", openapi.Filter{Operations: []string{"pets", "*x"}}, []string{`"pets" fits no`, `"*x" fits no`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := load(t, text, openapi.Options{Filter: c.f})
			if got := strings.Join(ids(d), " "); got != c.want || d.Total != 4 {
				t.Errorf("got %s of %d, want %s", got, d.Total, c.want)
			}
			wantProblems(t, d.Problems, c.problems...)
		})
	}
}

func TestFind(t *testing.T) {
	d := load(t, "openapi: 3.0.0\npaths: {/a: {get: {operationId: x/y}, put: {operationId: 'GET /a'}, post: {}}}", openapi.Options{})
	for name, want := range map[string]string{"x_y": "x_y", "x/y": "x_y", "GET /a": "GET_a", "POST /a": "post_a", "PUT /a": "GET_a", "post /a": "", "": ""} {
		got := ""
		if op := d.Find(name); op != nil {
			got = op.ID
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestSafeName(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a/b", "a_b"}, {"a//b", "a_b"}, {"/a/", "a"}, {"a-b_c", "a-b_c"}, {"é", ""}, {"", ""}, {"__a", "__a"}, {"ab\x1b[31m", "ab_31m"},
		{"exactly10c", "exactly10c"},
	} {
		if got := openapi.SafeName(c.text, 10); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
	a, b := openapi.SafeName("same beginning, one end", 20), openapi.SafeName("same beginning, other end", 20)
	if a == b || len(a) != 20 || len(b) != 20 || !slices.ContainsFunc([]string{a}, func(s string) bool { return strings.HasPrefix(s, "same_beginn_") }) {
		t.Errorf("%q and %q", a, b)
	}
}
