// Package trail carries in a context what the lines of a log are about: the request,
// the session, the chain of events.
package trail

import (
	"context"
	"log/slog"
	"slices"
)

type key struct{}

// With returns a context whose log lines have more attributes. One that is there
// already under the same key is replaced.
func With(ctx context.Context, attrs ...slog.Attr) context.Context {
	before, _ := ctx.Value(key{}).([]slog.Attr)
	all := slices.DeleteFunc(slices.Clone(before), func(a slog.Attr) bool {
		return slices.ContainsFunc(attrs, func(b slog.Attr) bool { return a.Key == b.Key })
	})
	return context.WithValue(ctx, key{}, append(all, attrs...))
}

// Handler adds to each line what its context has, before what the line says itself.
type Handler struct{ slog.Handler }

// Handle implements slog.Handler. What the line names itself is not added.
func (h Handler) Handle(ctx context.Context, r slog.Record) error {
	attrs, _ := ctx.Value(key{}).([]slog.Attr)
	if len(attrs) == 0 {
		return h.Handler.Handle(ctx, r)
	}
	own := map[string]bool{}
	r.Attrs(func(a slog.Attr) bool {
		own[a.Key] = true
		return true
	})
	out := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	for _, a := range attrs {
		if !own[a.Key] {
			out.AddAttrs(a)
		}
	}
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(a)
		return true
	})
	return h.Handler.Handle(ctx, out)
}

// WithAttrs implements slog.Handler.
func (h Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return Handler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h Handler) WithGroup(name string) slog.Handler { return Handler{h.Handler.WithGroup(name)} }
