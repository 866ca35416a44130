// Package recent remembers a bounded number of things that a session store
// would have to ask its database for.
package recent

import (
	"sync"
	"time"
)

// Add adds an entry to a map, which drops another one at random if it has bound
// entries.
func Add[K comparable, V any](m map[K]V, k K, v V, bound int) {
	if _, ok := m[k]; !ok && len(m) >= bound {
		for old := range m {
			delete(m, old)
			break
		}
	}
	m[k] = v
}

// Blob names a blob.
type Blob struct{ Tenant, Digest string }

// Blobs remembers until when a blob need not be put again. It is safe for
// concurrent use; the zero value is ready.
type Blobs struct {
	mu    sync.Mutex
	until map[Blob]time.Time
}

const maxBlobs = 4096

// Has says whether the blob need not be put.
func (r *Blobs) Has(b Blob, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return now.Before(r.until[b])
}

// Put notes that the blob was put.
func (r *Blobs) Put(b Blob, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.until == nil {
		r.until = map[Blob]time.Time{}
	}
	Add(r.until, b, until, maxBlobs)
}
