// Package keyfile keeps the keys of model providers, each in a file that is
// encrypted with age. The files are ordinary ones of age: `age -d` reads them, and
// holds the key in the first line and the address that it is for in the second.
package keyfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"filippo.io/age"

	"github.com/rosterrun/roster/internal/keep"
)

// Variable names the identity that opens the files; default: DefaultIdentity in
// the user's folder.
const (
	Variable        = "ROSTER_AGE_IDENTITY"
	DefaultIdentity = "age-identity.txt"
	folder          = "keys"
	suffix          = ".age"
)

// Bounds, in bytes.
const (
	maxKey      = 64 << 10
	maxFile     = 256 << 10
	maxIdentity = 64 << 10
	maxOld      = 64 // keys that are no longer used, and still hidden in texts
)

// Store is the folder of keys. It is safe for concurrent use.
type Store struct {
	home     string
	identity string // its path
	chosen   bool   // by Variable

	mu   sync.Mutex
	kept map[string]opened
	old  []string
}

// opened is a key as it was read, and what it was read from.
type opened struct {
	file, identity keep.Stamp
	key, address   string
	at             time.Time
}

// New returns the store below home, the user's own folder. It reads nothing yet.
func New(home string, getenv func(string) string) *Store {
	s := &Store{home: home, identity: filepath.Join(home, DefaultIdentity), kept: map[string]opened{}}
	if path := getenv(Variable); path != "" {
		s.identity, s.chosen = path, true
	}
	return s
}

// Identity is the path of the identity.
func (s *Store) Identity() string { return s.identity }

// Path is where the key of a provider is, or would be.
func (s *Store) Path(provider string) string { return filepath.Join(s.home, folder, provider+suffix) }

// Has says whether there is a key for a provider. It opens nothing.
func (s *Store) Has(provider string) bool {
	if !isName(provider) {
		return false
	}
	info, err := os.Stat(s.Path(provider))
	return err == nil && info.Mode().IsRegular()
}

// isName says whether a provider's name may be the name of a file.
func isName(name string) bool {
	return name != "" && len(name) <= 128 && name[0] != '.' && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-')
	})
}

// Key opens the key of a provider, if it is for that address: a key must not go
// to another one because somebody declared the provider anew.
func (s *Store) Key(provider, address string) (string, error) {
	if !isName(provider) {
		return "", fmt.Errorf("a provider called %q has no key file: use letters, digits, . _ and -", provider)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.open(provider)
	if err != nil {
		return "", err
	}
	if o.address != host(address) {
		return "", fmt.Errorf("%s is for %s, not for %s: roster models keys set %s stores one for it", s.Path(provider), o.address, host(address), provider)
	}
	return o.key, nil
}

// open reads a key, unless neither its file nor the identity has changed since.
func (s *Store) open(provider string) (opened, error) {
	file := keep.File(s.Path(provider))
	stamp, err := file.Stamp()
	if err != nil {
		return opened{}, err
	}
	with, err := keep.File(s.identity).Stamp()
	if err != nil {
		return opened{}, err
	}
	if o, ok := s.kept[provider]; ok && o.file == stamp && o.identity == with {
		return o, nil
	}
	o := opened{file: stamp, identity: with, at: time.Now()}
	s.retire(provider)
	if o.key, o.address, err = s.decrypt(file); err != nil {
		return opened{}, err // what is mended, such as who may read it, may not show in a stamp
	}
	s.kept[provider] = o
	return o, nil
}

func (s *Store) decrypt(file keep.File) (key, address string, err error) {
	data, err := file.Read()
	if err != nil {
		return "", "", err
	}
	identities, err := s.identities()
	if err != nil {
		return "", "", err
	}
	r, err := age.Decrypt(bytes.NewReader(data), identities...)
	if err != nil {
		return "", "", fmt.Errorf("%s is not opened by %s: %w", file, s.identity, err)
	}
	plain, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil || len(plain) > maxFile {
		return "", "", fmt.Errorf("%s is damaged or too large", file)
	}
	key, rest, _ := strings.Cut(string(plain), "\n")
	address, _, _ = strings.Cut(rest, "\n")
	key, address = strings.TrimSpace(key), host(strings.TrimSpace(address))
	if err := check(key); err != nil {
		return "", "", fmt.Errorf("%s: %w", file, err)
	}
	if address == "" {
		return "", "", fmt.Errorf("%s does not say in its second line which address the key is for", file)
	}
	return key, address, nil
}

// identities reads those of the user. Nobody else may be able to.
func (s *Store) identities() ([]age.Identity, error) {
	f, err := os.OpenFile(s.identity, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no age identity %s: name it in %s, or let roster models keys set make one", s.identity, Variable)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("the age identity %s is not a file", s.identity)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("others may read the age identity %s (chmod 600 %s)", s.identity, s.identity)
	case ok && int(owner.Uid) != os.Getuid():
		return nil, fmt.Errorf("the age identity %s belongs to somebody else", s.identity)
	}
	ids, err := age.ParseIdentities(io.LimitReader(f, maxIdentity))
	if err != nil {
		return nil, fmt.Errorf("%s is no age identity: age-keygen makes one", s.identity) // the cause may quote it
	}
	return ids, nil
}

// Set encrypts a key for an address. Without an identity it makes one, and gives
// its path.
func (s *Store) Set(provider, address, key string) (made string, err error) {
	if !isName(provider) {
		return "", fmt.Errorf("a provider called %q has no key file: use letters, digits, . _ and -", provider)
	}
	if err := check(key); err != nil {
		return "", err
	}
	to := host(address)
	if to == "" {
		return "", fmt.Errorf("provider %s is reached at no http or https address, so it takes no key", provider)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.MkdirAll(filepath.Join(s.home, folder), 0o700); err != nil {
		return "", err
	}
	if made, err = s.makeIdentity(); err != nil {
		return "", err
	}
	recipients, err := s.recipients()
	if err != nil {
		return made, err
	}
	var out bytes.Buffer
	w, err := age.Encrypt(&out, recipients...)
	if err == nil {
		_, err = io.WriteString(w, key+"\n"+to+"\n")
		err = errors.Join(err, w.Close())
	}
	if err != nil {
		return made, err
	}
	s.retire(provider)
	return made, keep.File(s.Path(provider)).Write(out.Bytes())
}

// makeIdentity makes the user's identity if there is none and he has not named
// another.
func (s *Store) makeIdentity() (made string, err error) {
	if _, err := os.Lstat(s.identity); s.chosen || !errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return "", err
	}
	f, err := os.OpenFile(s.identity, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(f, "# made by roster; it opens the files in %s\n# public key: %s\n%s\n", folder, id.Recipient(), id)
	return s.identity, errors.Join(err, f.Sync(), f.Close())
}

func (s *Store) recipients() (out []age.Recipient, err error) {
	ids, err := s.identities()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		switch id := id.(type) {
		case *age.X25519Identity:
			out = append(out, id.Recipient())
		case *age.HybridIdentity:
			out = append(out, id.Recipient())
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s holds no identity that can be encrypted to", s.identity)
	}
	return out, nil
}

// Remove deletes the key of a provider. fs.ErrNotExist: there is none.
func (s *Store) Remove(provider string) error {
	if !isName(provider) {
		return fs.ErrNotExist
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retire(provider)
	return os.Remove(s.Path(provider))
}

// Entry is one key that is kept, without the key.
type Entry struct {
	Provider string    `json:"provider"`
	File     string    `json:"file"`
	Set      time.Time `json:"set"`
}

// List says which keys there are. It opens none.
func (s *Store) List() ([]Entry, error) {
	files, err := os.ReadDir(filepath.Join(s.home, folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	list := []Entry{}
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), suffix)
		info, err := f.Info()
		if ok && isName(name) && err == nil && info.Mode().IsRegular() {
			list = append(list, Entry{name, s.Path(name), info.ModTime().UTC().Truncate(time.Second)})
		}
	}
	return list, nil
}

// Forget drops what was read of a provider's key before a time, so that it is
// read anew.
func (s *Store) Forget(provider string, before time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, ok := s.kept[provider]; ok && o.at.Before(before) {
		s.retire(provider)
	}
}

// retire takes a key out of use. Texts may still hold it.
func (s *Store) retire(provider string) {
	if key := s.kept[provider].key; key != "" && !slices.Contains(s.old, key) {
		s.old = append(s.old, key)
		s.old = s.old[max(0, len(s.old)-maxOld):]
	}
	delete(s.kept, provider)
}

// Secrets are the keys that were opened so far.
func (s *Store) Secrets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.Clone(s.old)
	for _, o := range s.kept {
		if o.key != "" {
			out = append(out, o.key)
		}
	}
	return out
}

// check refuses what can be no key: nothing, several lines, or what a header
// cannot carry.
func check(key string) error {
	switch {
	case key == "":
		return errors.New("the key is empty")
	case len(key) > maxKey:
		return fmt.Errorf("the key has more than %d bytes", maxKey)
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return errors.New("the key has a blank or a control character in it")
	}
	return nil
}

// host is the scheme and host of an address, which a key belongs to; empty: none.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}
