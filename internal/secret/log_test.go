package secret

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

type told struct{ Text string }

func (t told) LogValue() slog.Value { return slog.StringValue(t.Text) }

func TestHandler(t *testing.T) {
	const planted = "sk-planted-0123456789"
	var out bytes.Buffer
	hide := func(text string) string { return Hide(text, []string{planted}) }
	log := slog.New(NewHandler(slog.NewJSONHandler(&out, nil), hide))
	log.With("with", planted).WithGroup("g").Info("says "+planted,
		"text", planted, "error", errors.New("x "+planted), "value", struct{ S string }{planted}, "list", []string{planted},
		"told", told{planted}, slog.Group("inner", "text", planted), "number", 7, "ok", true)
	if strings.Contains(out.String(), "planted") || strings.Count(out.String(), Hidden) != 8 || !strings.Contains(out.String(), `"number":7,"ok":true`) {
		t.Error(out.String())
	}
	out.Reset()
	log.Info("plain", "list", []string{"a"})
	if !strings.Contains(out.String(), `"msg":"plain","list":["a"]`) {
		t.Error(out.String())
	}
}
