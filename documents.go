package roster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/rosterrun/roster/service"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool/openapi"
	"github.com/rosterrun/roster/trust"
)

// documentKey is a document as it was when it was read, and what was chosen of it.
type documentKey struct {
	file   file
	filter string
}

const (
	maxDocument   = 32 << 20 // bytes
	keptDocuments = 8
	// freshDocument is how long a document that was fetched is taken as it is.
	freshDocument = time.Hour
	fetchTime     = 30 * time.Second
)

// documentFile is where the document of a service is here: the file that it names, or
// what was fetched of its address.
func (a *App) documentFile(e *service.Entry) string {
	if !e.Remote() {
		return a.path(e.Spec)
	}
	sum := sha256.Sum256([]byte(e.Spec))
	return filepath.Join(a.state, "openapi", hex.EncodeToString(sum[:16]))
}

// documentFiles lists those of a spec.
func (a *App) documentFiles(s *spec.Spec) []string {
	var files []string
	for i := range s.Services {
		files = append(files, a.documentFile(&s.Services[i]))
	}
	return files
}

// documentsHere says whether all documents of a spec are.
func (a *App) documentsHere(s *spec.Spec) bool {
	for _, f := range a.documentFiles(s) {
		if !stampOf(f).there {
			return false
		}
	}
	return true
}

// document reads the document of a service. It fetches nothing.
func (a *App) document(e *service.Entry) (*openapi.Document, error) {
	path := a.documentFile(e)
	now := time.Now()
	k := documentKey{stampOf(path), fmt.Sprintf("%q", [][]string{e.Operations, e.Tags, e.Paths, e.Methods})}
	a.services.mu.Lock()
	d := a.services.documents[k]
	a.services.mu.Unlock()
	if d != nil {
		return d, nil
	}
	data, err := readDocument(path)
	if errors.Is(err, os.ErrNotExist) && e.Remote() {
		return nil, fmt.Errorf("the document of the service %s is not here yet: the first run fetches it from %s", e.Name, e.Does())
	}
	if err != nil {
		return nil, fmt.Errorf("the document of the service %s: %w", e.Name, err)
	}
	if d, err = loadDocument(e, path, data); err != nil {
		return nil, fmt.Errorf("the document of the service %s: %w", e.Name, err)
	}
	a.services.mu.Lock()
	defer a.services.mu.Unlock()
	if areSettled([]file{k.file}, now) {
		if len(a.services.documents) >= keptDocuments || a.services.documents == nil {
			a.services.documents = map[documentKey]*openapi.Document{}
		}
		a.services.documents[k] = d
	}
	return d, nil
}

// loadDocument reads a document, and all of it that is offered, so that nothing of its
// folder stays open.
func loadDocument(e *service.Entry, path string, data []byte) (*openapi.Document, error) {
	src := openapi.Source{Name: e.Spec, Data: data}
	if !e.Remote() {
		root, err := os.OpenRoot(filepath.Dir(path))
		if err != nil {
			return nil, err
		}
		defer root.Close()
		src.Dir = root
	}
	filter := openapi.Filter{Operations: e.Operations, Tags: e.Tags, Paths: e.Paths, Methods: e.Methods}
	d, err := openapi.Load(context.Background(), src, openapi.Options{Filter: filter})
	if err != nil {
		return nil, err
	}
	if len(d.Operations) == 0 {
		return nil, &noneChosenError{e.Does(), d.Total}
	}
	if len(d.Operations) <= openapi.MaxTools {
		for _, o := range d.Operations {
			o.Schema()
		}
	}
	return d, nil
}

// noneChosenError says that nothing of a document is left to offer.
type noneChosenError struct {
	of    string
	total int
}

func (e *noneChosenError) Error() string {
	return fmt.Sprintf("%s: none of its %d operations is chosen: see operations, tags, paths and methods in the entry", e.of, e.total)
}

// readDocument reads a regular file. It does not wait for the other end of a pipe.
func readDocument(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case info.Size() > maxDocument:
		return nil, fmt.Errorf("%s has more than %d bytes", path, maxDocument)
	}
	return io.ReadAll(io.LimitReader(f, maxDocument))
}

// fetched is what is known of a document that was fetched.
type fetched struct {
	URL  string    `json:"url"`
	ETag string    `json:"etag,omitempty"`
	At   time.Time `json:"at"`
}

// fetchDocuments fetches the documents of a spec that are at addresses, where they are
// not here or may have changed. What cannot be fetched is logged, and what was fetched
// before stands: a run does not fail for it.
func (a *App) fetchDocuments(ctx context.Context, s *spec.Spec) {
	for i := range s.Services {
		e := &s.Services[i]
		if !e.Remote() || a.Trust().Gate(trust.OfService(e)) != nil {
			continue
		}
		if err := a.fetchDocument(ctx, e); err != nil {
			a.opts.Log.Warn("the document of a service cannot be fetched", "service", e.Name, "from", e.Does(), "error", err)
		}
	}
}

func (a *App) fetchDocument(ctx context.Context, e *service.Entry) error {
	a.services.fetching.Lock()
	defer a.services.fetching.Unlock()
	path := a.documentFile(e)
	var known fetched
	if data, err := os.ReadFile(path + ".json"); err == nil && stampOf(path).there {
		_ = json.Unmarshal(data, &known) // without it all is fetched
	}
	if age := time.Since(known.At); age >= 0 && age < freshDocument {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	data, etag, err := openapi.Fetch(limited, e, known.ETag, a.Config().Web.Proxy.V)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if data != nil {
		if _, err := openapi.Load(limited, openapi.Source{Name: e.Does(), Data: data}, openapi.Options{}); err != nil {
			return err
		}
		if err := replaceFile(path, data); err != nil {
			return err
		}
	}
	about, err := json.Marshal(fetched{e.Does(), etag, time.Now().UTC()})
	if err != nil {
		return err
	}
	return replaceFile(path+".json", about)
}

func replaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// servicePaths are the documents in the workspace, which say what agents can do.
func (a *App) servicePaths(s *spec.Spec) []string {
	var paths []string
	for i := range s.Services {
		if e := &s.Services[i]; !e.Remote() && !strings.HasPrefix(e.Spec, "..") {
			paths = append(paths, a.path(e.Spec))
		}
	}
	return paths
}
