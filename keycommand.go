package roster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// keyCommands runs the commands that print keys, and keeps what they print for a
// while: asking a password manager takes its time. It is safe for concurrent use;
// one command runs at a time.
type keyCommands struct {
	one  sync.Mutex // held while one runs
	mu   sync.Mutex // guards kept
	kept map[string]keptKey
}

type keptKey struct {
	key   string
	until time.Time
}

// Bounds of a command that prints a key.
const (
	keyTime    = 30 * time.Second
	keyKept    = 5 * time.Minute
	maxKey     = 64 << 10
	maxKeyFail = 200 // bytes of what it says when it fails
)

// run gives the first line that a command prints.
func (k *keyCommands) run(words []string) (string, error) {
	k.one.Lock()
	defer k.one.Unlock()
	id := strings.Join(words, "\x00")
	if kept, ok := k.get(id); ok && time.Now().Before(kept.until) {
		return kept.key, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), keyTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.WaitDelay = time.Second // a child of it may hold the pipe
	var out, said limited
	out.max, said.max = maxKey, maxKeyFail
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("it took longer than %s", keyTime)
		}
		if text := strings.TrimSpace(said.String()); text != "" {
			err = fmt.Errorf("%w: %s", err, text)
		}
		return "", err
	}
	key, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
	if key = strings.TrimSpace(key); key == "" {
		return "", errors.New("it prints nothing")
	}
	k.put(id, keptKey{key, time.Now().Add(keyKept)})
	return key, nil
}

func (k *keyCommands) get(id string) (keptKey, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	kept, ok := k.kept[id]
	return kept, ok
}

func (k *keyCommands) put(id string, kept keptKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		k.kept = map[string]keptKey{}
	}
	k.kept[id] = kept
}

// keys are those that are kept.
func (k *keyCommands) keys() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := make([]string, 0, len(k.kept))
	for _, kept := range k.kept {
		out = append(out, kept.key)
	}
	return out
}

// limited keeps the beginning of what is written to it.
type limited struct {
	bytes.Buffer
	max int
}

func (l *limited) Write(b []byte) (int, error) {
	if room := l.max - l.Len(); room > 0 {
		l.Buffer.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}
