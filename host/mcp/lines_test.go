package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLines(t *testing.T) {
	const message = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, x := range []struct{ name, in, out, said string }{
		{"a message", message + "\n", message + "\n", ""},
		{"without an end", message, message + "\n", ""},
		{"other ends", message + "\r\n", message + "\n", ""},
		{"blanks", " \n\n" + message + "\n\r\n", message + "\n", ""},
		{"two", message + "\n" + message + "\n", message + "\n" + message + "\n", ""},
		{"a batch", "[" + message + "]\n", "[" + message + "]\n", ""},
		{"an empty batch", "[]\n" + message, message + "\n", "-32600"},
		{"half of one", message[:20] + "\n" + message, message + "\n", "-32700"},
		{"two in a line", message + message + "\n" + message, message + "\n", "-32700"},
		{"no message", `{"id":1}` + "\n" + message, message + "\n", "-32600"},
		{"too long", strings.Repeat("x", maxLine+1) + "\n" + message, message + "\n", "-32600"},
		{"too long, without an end", strings.Repeat("x", maxLine+1), "", "-32600"},
		{"nothing", "", "", ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			var out bytes.Buffer
			l := newLines(io.NopCloser(strings.NewReader(x.in)), &out)
			l.Close() // nobody answers
			got, err := io.ReadAll(l)
			if err != nil || string(got) != x.out {
				t.Errorf("%.200q %v", got, err)
			}
			if (x.said == "") != (out.Len() == 0) || !strings.Contains(out.String(), x.said) {
				t.Errorf("said %q", &out)
			}
		})
	}
}

// FuzzLines: what comes through are messages, what is answered is JSON, and no
// line is both or neither.
func FuzzLines(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n[]\n{\n"))
	f.Add([]byte("[{\"jsonrpc\":\"2.0\",\"method\":\"x\"}]\r\n\xff\n\"\\ud800\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var out bytes.Buffer
		l := newLines(io.NopCloser(iotest.HalfReader(bytes.NewReader(data))), &out)
		l.Close() // nobody answers
		got, err := io.ReadAll(l)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for line := range bytes.Lines(got) {
			count++
			if _, ok := messages(line); !ok || line[len(line)-1] != '\n' {
				t.Errorf("%q came through", line)
			}
		}
		for line := range bytes.Lines(out.Bytes()) {
			if count++; !json.Valid(line) {
				t.Errorf("%q was answered", line)
			}
		}
		for line := range bytes.Lines(data) {
			if len(bytes.TrimSpace(line)) > 0 {
				count--
			}
		}
		if count != 0 {
			t.Errorf("%d lines too many", count)
		}
	})
}
