// Package external asks hooks outside of this process: commands, and HTTP
// addresses. Both get the moment as JSON and answer with JSON (hook.ParseAnswer).
package external

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/sandbox"
)

// Command is a line for bash that is told on its standard input and answers on
// its standard output. What it writes to standard error is shown when it fails.
// It ends with all that it started.
type Command struct {
	Line   string
	Helper []string // see sandbox.Command
	Dir    string
	Env    []string
	Hold   *os.File
	Box    sandbox.Box
}

// Ask is the Ask of a hook.Hook.
func (c Command) Ask(ctx context.Context, m *hook.Moment) (hook.Verdict, error) {
	data, err := json.Marshal(m)
	if err != nil {
		return hook.Verdict{}, err
	}
	limited, tooMuch := context.WithCancel(ctx)
	defer tooMuch()
	out := &bounded{most: hook.MaxAnswer, full: tooMuch}
	said := &bounded{most: maxSaid}
	run := sandbox.Command{
		Helper: c.Helper, Argv: []string{"bash", "--noprofile", "--norc", "-c", "--", c.Line}, Dir: c.Dir, Env: c.Env, Hold: c.Hold, Box: c.Box,
		Stdin: bytes.NewReader(append(data, '\n')), Stdout: out, Stderr: said,
	}
	code, err := run.Run(limited)
	switch {
	case out.over:
		return hook.Verdict{}, fmt.Errorf("the answer has more than %d bytes", hook.MaxAnswer)
	case err != nil:
		return hook.Verdict{}, err
	case code != 0:
		return hook.Verdict{}, fmt.Errorf("exit code %d%s", code, said.line())
	}
	return hook.ParseAnswer(out.kept)
}

// maxSaid bounds what is shown of what a command says, in bytes.
const maxSaid = 500

// bounded keeps the beginning of what is written to it. It has no ReadFrom,
// which would go past the bound.
type bounded struct {
	kept []byte
	most int
	over bool
	full func() // called when more comes; nil: the rest is dropped
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.most - len(b.kept)
	b.kept = append(b.kept, p[:min(room, len(p))]...)
	if len(p) > room && !b.over {
		b.over = true
		if b.full != nil {
			b.full()
		}
	}
	return len(p), nil
}

func (b *bounded) line() string {
	if text := strings.Join(strings.Fields(strings.ToValidUTF8(string(b.kept), "")), " "); text != "" {
		return ": " + text
	}
	return ""
}

// Address is posted to. No redirect is followed, and only an answer of status
// 2xx counts.
type Address struct {
	Client *http.Client
	URL    string
}

// Ask is the Ask of a hook.Hook.
func (a Address) Ask(ctx context.Context, m *hook.Moment) (hook.Verdict, error) {
	data, err := json.Marshal(m)
	if err != nil {
		return hook.Verdict{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.URL, bytes.NewReader(data))
	if err != nil {
		return hook.Verdict{}, withoutURL(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "roster")
	client := *a.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		return hook.Verdict{}, withoutURL(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, hook.MaxAnswer+1))
	switch {
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return hook.Verdict{}, fmt.Errorf("the address answered %s", resp.Status)
	case err != nil:
		return hook.Verdict{}, err
	}
	return hook.ParseAnswer(body)
}

// withoutURL leaves the address out of an error: it may hold a secret.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
