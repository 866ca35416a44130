package trail_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/rosterrun/roster/internal/trail"
)

func TestLinesSayWhatTheyAreAbout(t *testing.T) {
	var out strings.Builder
	log := slog.New(trail.Handler{Handler: slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})})
	ctx := trail.With(context.Background(), slog.String("session", "s1"), slog.String("tenant", "acme"))
	ctx = trail.With(ctx, slog.String("session", "s2"), slog.String("chainId", "c"))
	log.InfoContext(context.Background(), "none")
	log.InfoContext(ctx, "all", "x", 1)
	log.With("y", 2).InfoContext(ctx, "own", "session", "s3")
	want := `level=INFO msg=none
level=INFO msg=all tenant=acme session=s2 chainId=c x=1
level=INFO msg=own y=2 tenant=acme chainId=c session=s3
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
