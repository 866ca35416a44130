package roster_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/rosterrun/roster/internal/apitest"
)

// otherProtocols are operations whose success another protocol decides on.
var otherProtocols = []string{"mcpGet", "mcpDelete", "defaultAgentCard"}

// eachOperation calls f with every operation of the document.
func (w *world) eachOperation(f func(path, method string, o apitest.Operation)) {
	for _, path := range slices.Sorted(maps.Keys(w.doc.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(w.doc.Paths[path])) {
			f(path, method, w.doc.Paths[path][method])
		}
	}
}

// TestTheDocumentsExamples sends what the document says to a server, for each of its
// operations: it is answered with success, as the document says.
func TestTheDocumentsExamples(t *testing.T) {
	w := openWorld(t)
	w.eachOperation(func(path, method string, o apitest.Operation) {
		t.Run(o.ID, func(t *testing.T) {
			w.t = t
			c := w.callOf(path, method, o)
			if a := w.send(owner, c); a.Status >= 300 && !slices.Contains(otherProtocols, o.ID) {
				t.Errorf("%s %s %s: %d %s", method, c.path, c.body, a.Status, a.Body)
			}
		})
	})
	w.t = t
}
