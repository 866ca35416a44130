package roster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rosterrun/roster/sandbox"
)

// keyCommands runs the commands that print keys, and keeps what they print for a
// while: asking a password manager takes its time. It is safe for concurrent use;
// one command runs at a time, and those who waited for it share what came of it.
type keyCommands struct {
	helper func() (start []string, hold *os.File) // see App.helper

	one  sync.Mutex // held while one runs
	mu   sync.Mutex // guards what follows
	kept map[string]keptKey
	old  []string // keys that are no longer used: texts may still hold them
}

// keptKey is what came of a command.
type keptKey struct {
	key          string
	err          error
	began, ended time.Time
}

// fresh says whether it does for somebody who asked at a time: a key for a while,
// a failure for those who waited while the command ran, and the moment after.
func (k *keptKey) fresh(asked time.Time) bool {
	if k.err != nil {
		return asked.Before(k.ended.Add(keyFailed))
	}
	return k.key != "" && time.Since(k.ended) < keyKept
}

// Bounds of a command that prints a key.
const (
	keyTime    = 30 * time.Second
	keyKept    = 5 * time.Minute
	keyFailed  = time.Second
	maxKey     = 64 << 10
	maxKeyFail = 200 // bytes of what it says when it fails
	maxOldKeys = 64
)

// run gives the first line that a command prints.
func (k *keyCommands) run(words []string) (string, error) {
	asked := time.Now()
	k.one.Lock()
	defer k.one.Unlock()
	id := strings.Join(words, "\x00")
	if kept := k.get(id); kept.fresh(asked) {
		return kept.key, kept.err
	}
	got := keptKey{began: time.Now()}
	got.key, got.err = k.printed(words)
	got.ended = time.Now()
	k.put(id, got)
	return got.key, got.err
}

// printed runs a command, which ends with all that it started.
func (k *keyCommands) printed(words []string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), keyTime)
	defer cancel()
	var out, said limited
	out.max, said.max = maxKey, maxKeyFail
	start, hold := k.helper()
	cmd := sandbox.Command{Helper: start, Argv: words, Env: os.Environ(), Stdout: &out, Stderr: &said, Hold: hold}
	code, err := cmd.Run(ctx)
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("it took longer than %s", keyTime)
	case err == nil && code != 0:
		err = fmt.Errorf("exit status %d", code)
	}
	if err != nil {
		if text := strings.TrimSpace(said.String()); text != "" {
			err = fmt.Errorf("%w: %s", err, text)
		}
		return "", err
	}
	key, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
	if key = strings.TrimSpace(key); key == "" {
		return "", errors.New("it prints nothing")
	}
	return key, nil
}

// forget drops what a command printed, if it ran before a time.
func (k *keyCommands) forget(words []string, before time.Time) {
	id := strings.Join(words, "\x00")
	k.mu.Lock()
	defer k.mu.Unlock()
	if kept, ok := k.kept[id]; ok && kept.began.Before(before) {
		k.retire(kept.key)
		delete(k.kept, id)
	}
}

// retire remembers a key that is no longer used.
func (k *keyCommands) retire(key string) {
	if key != "" && !slices.Contains(k.old, key) {
		k.old = append(k.old, key)
		k.old = k.old[max(0, len(k.old)-maxOldKeys):]
	}
}

func (k *keyCommands) get(id string) keptKey {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.kept[id]
}

func (k *keyCommands) put(id string, got keptKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		k.kept = map[string]keptKey{}
	}
	k.retire(k.kept[id].key)
	k.kept[id] = got
}

// keys are those that were printed.
func (k *keyCommands) keys() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := slices.Clone(k.old)
	for _, kept := range k.kept {
		if kept.key != "" {
			out = append(out, kept.key)
		}
	}
	return out
}

// limited keeps the beginning of what is written to it. It has no ReadFrom,
// which would go past the bound.
type limited struct {
	kept []byte
	max  int
}

func (l *limited) Write(b []byte) (int, error) {
	l.kept = append(l.kept, b[:min(l.max-len(l.kept), len(b))]...)
	return len(b), nil
}

func (l *limited) String() string { return string(l.kept) }
