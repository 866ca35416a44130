package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// clean is a text of a server as it may be shown to people and models: without what
// cannot be seen or moves the cursor, and at most max bytes of it.
func clean(text string, max int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text, _ = cut(strings.TrimSpace(text), max)
	return text
}

// line is clean for a text of one line.
func line(text string, max int) string {
	return clean(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " "), max)
}

// cut is the beginning of a text that is too long, and how many bytes are not in it.
func cut(text string, max int) (string, int) {
	if len(text) <= max {
		return text, 0
	}
	end := max
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end], len(text) - end
}

// readable has U+FFFD for what is no text: NUL too, which not all who get it take.
func readable(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\xff"), "\uFFFD")
}

// answered is the error that a server has answered with; nil: it has answered nothing.
// The library has errors of its own of the same kind.
func answered(err error) *jsonrpc.Error {
	const clientClosing, rejected = -32003, -32005
	answer := (*jsonrpc.Error)(nil)
	if !errors.As(err, &answer) || answer.Code <= clientClosing && answer.Code >= rejected {
		return nil
	}
	return answer
}

// plainly leaves out of an error what only the library's own words are.
func plainly(err error) error {
	answer := answered(err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errAsks):
		return errAsks
	case errors.Is(err, errDeaf):
		return errDeaf
	case answer != nil:
		text := line(answer.Message, maxLine)
		if text == "" {
			text = "no reason is given"
		}
		return fmt.Errorf("it answered with error %d: %s", answer.Code, text)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, sdk.ErrConnectionClosed):
		return errors.New("it has closed the connection")
	}
	return errors.New(line(withoutSteps(err.Error()), 2*maxLine))
}

// withoutSteps leaves out what the library was doing.
func withoutSteps(text string) string {
	for strings.HasPrefix(text, `calling "`) || strings.HasPrefix(text, `sending "`) {
		_, rest, ok := strings.Cut(text, `": `)
		if !ok {
			break
		}
		text = rest
	}
	return text
}
