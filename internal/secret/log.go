package secret

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
)

// Handler hides secrets in what it passes on to another handler: in messages, and
// in the texts, errors and other values of attributes.
type Handler struct {
	next slog.Handler
	hide func(string) string
}

// NewHandler hides in what next gets what hide hides.
func NewHandler(next slog.Handler, hide func(string) string) *Handler { return &Handler{next, hide} }

func (h *Handler) Enabled(ctx context.Context, l slog.Level) bool { return h.next.Enabled(ctx, l) }

func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, h.hide(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, clean)
}

func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &Handler{h.next.WithAttrs(h.attrs(attrs)), h.hide}
}

func (h *Handler) WithGroup(name string) slog.Handler {
	return &Handler{h.next.WithGroup(name), h.hide}
}

func (h *Handler) attrs(attrs []slog.Attr) []slog.Attr {
	attrs = slices.Clone(attrs)
	for i := range attrs {
		attrs[i] = h.attr(attrs[i])
	}
	return attrs
}

func (h *Handler) attr(a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(h.hide(a.Value.String()))
	case slog.KindGroup:
		a.Value = slog.GroupValue(h.attrs(a.Value.Group())...)
	case slog.KindAny:
		text := fmt.Sprintf("%+v", a.Value.Any())
		if clean := h.hide(text); clean != text {
			a.Value = slog.StringValue(clean)
		}
	}
	return a
}
