package roster

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/rosterrun/roster/internal/keyfile"
)

// KeptKey is one key of a provider that is kept encrypted. It does not hold the
// key.
type KeptKey = keyfile.Entry

// SetKey keeps the key of a provider, encrypted with age, in the user's own
// folder, for the address that the provider has now. identity is the path of the
// age identity that opens it, and made says that there was none before.
func (a *App) SetKey(provider, key string) (kept KeptKey, identity string, made bool, err error) {
	p, err := a.Models().Provider(provider)
	if err != nil {
		return kept, "", false, err
	}
	if w := p.Endpoint.Withheld; len(w) > 0 {
		return kept, "", false, fmt.Errorf("provider %s: %w", provider, w[0].Why)
	}
	for _, path := range []string{a.keys.Identity(), a.keys.Path(provider)} {
		if abs, err := filepath.Abs(path); err != nil || filepath.IsLocal(relative(a.Dir(), abs)) {
			return kept, "", false, errors.Join(err, fmt.Errorf("%s is in the workspace, where agents may read it: set ROSTER_HOME or %s to a place outside", path, keyfile.Variable))
		}
	}
	path, err := a.keys.Set(provider, p.Endpoint.BaseURL, key)
	if err != nil {
		return kept, "", false, err
	}
	list, err := a.Keys()
	for _, k := range list {
		if k.Provider == provider {
			kept = k
		}
	}
	return kept, a.keys.Identity(), path != "", err
}

// Keys lists the keys that are kept. It opens none of them.
func (a *App) Keys() ([]KeptKey, error) { return a.keys.List() }

// ErrNoKey says that no key is kept for a provider.
var ErrNoKey = errors.New("no key is kept for it")

// RemoveKey forgets the key of a provider, or returns ErrNoKey.
func (a *App) RemoveKey(provider string) error {
	err := a.keys.Remove(provider)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("provider %s: %w", provider, ErrNoKey)
	}
	return err
}
