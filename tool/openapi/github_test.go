package openapi_test

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/rosterrun/roster/internal/peers"
	"github.com/rosterrun/roster/tool/openapi"
)

func gitHub(tb testing.TB) []byte {
	tb.Helper()
	data, err := os.ReadFile(peers.GitHub(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// TestGitHub loads a document of 1,223 operations: each has an ID and a schema, and
// what stays in memory is little more than the text.
func TestGitHub(t *testing.T) {
	data := gitHub(t)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	start := time.Now()
	d, err := openapi.Load(t.Context(), openapi.Source{Name: "github.json", Data: data}, openapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	inputs, problems := checkOperations(t, "github.json", d)
	after := heap()
	t.Logf("loaded in %v; %d inputs; %d KiB beside the text of %d KiB", took, inputs, (after-before)>>10, len(data)>>10)
	if len(d.Operations) != 1223 {
		t.Errorf("%d operations", len(d.Operations))
	}
	wantProblems(t, d.Problems)
	wantProblems(t, problems)
	if most := uint64(32 << 20); after > before+most {
		t.Errorf("it takes %d MiB beside its text", (after-before)>>20)
	}
	if op := d.Find("repos/create-or-update-file-contents"); op == nil || op.ID != "repos_create-or-update-file-contents" || op.Method != "PUT" {
		t.Errorf("got %+v", op)
	}
	runtime.KeepAlive(data)
}

func BenchmarkLoadGitHub(b *testing.B) {
	data := gitHub(b)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := openapi.Load(b.Context(), openapi.Source{Name: "github.json", Data: data}, openapi.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSchemasGitHub makes the schemas of all of them, of which an agent is
// offered a few.
func BenchmarkSchemasGitHub(b *testing.B) {
	data := gitHub(b)
	for b.Loop() {
		b.StopTimer()
		d, err := openapi.Load(b.Context(), openapi.Source{Name: "github.json", Data: data}, openapi.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		for _, op := range d.Operations {
			op.Schema()
		}
	}
}
