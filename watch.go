package roster

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// maxLogged bounds the lines that one change of the profiles logs.
const maxLogged = 50

// LogProfiles logs the errors and warnings in the profiles' files as they come
// and go, each with its place, until ctx ends. It watches the files, also those of
// the tenants whose workspaces are open.
func (a *App) LogProfiles(ctx context.Context) {
	var tenants sync.WaitGroup
	defer tenants.Wait()
	for _, t := range a.Tenants() {
		tenants.Go(func() { t.LogProfiles(ctx) })
	}
	known := map[profile.Diagnostic]profile.Diagnostic{}
	for s := range a.Catalog().Watch(ctx) {
		known = logChanges(ctx, a.opts.Log, known, s.Diagnostics())
	}
}

// logChanges logs what came and what went, and gives what there is now. The
// place is no part of the key: what only moves in its file is the same.
func logChanges(ctx context.Context, log *slog.Logger, known map[profile.Diagnostic]profile.Diagnostic, now []profile.Diagnostic) map[profile.Diagnostic]profile.Diagnostic {
	next := make(map[profile.Diagnostic]profile.Diagnostic, len(now))
	lines := 0
	say := func(level slog.Level, message string, d profile.Diagnostic) {
		if lines++; lines > maxLogged {
			return
		}
		at := source.Origin{File: d.File, Line: d.Line, Column: d.Column}
		log.Log(ctx, level, message, "at", at.String(), "code", d.Code, "message", d.Message)
	}
	for _, d := range now {
		key := d
		key.Line, key.Column = 0, 0
		_, again := next[key]
		next[key] = d
		if _, old := known[key]; old || again || d.Severity == profile.SeverityNote {
			continue
		}
		if d.Severity == profile.SeverityError {
			say(slog.LevelError, "a profile does not load", d)
		} else {
			say(slog.LevelWarn, "a profile has a flaw", d)
		}
	}
	for _, key := range gone(known, next) {
		say(slog.LevelInfo, "mended", known[key])
	}
	if lines > maxLogged {
		log.Log(ctx, slog.LevelWarn, "more about profiles was found than is logged; roster check lists it", "more", lines-maxLogged)
	}
	return next
}

func gone(known, next map[profile.Diagnostic]profile.Diagnostic) (keys []profile.Diagnostic) {
	for key := range known {
		if _, still := next[key]; !still && key.Severity != profile.SeverityNote {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b profile.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	return keys
}
