package main

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rosterrun/roster/client"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/session"
)

func (s server) Reader(context.Context) (session.Reader, error) { return serverLog(s), nil }

// serverLog is the log of a server's sessions.
type serverLog struct{ c *client.Client }

// Read implements session.Reader: up to the event that is the last one now.
func (l serverLog) Read(ctx context.Context, k session.Key, after int64) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		s, err := l.c.Session(ctx, k.Stream)
		if err != nil {
			yield(session.Event{}, err)
			return
		}
		if s.Last <= after {
			return
		}
		for e, err := range l.c.Events(ctx, k.Stream, client.EventsOptions{After: after}) {
			if err == nil && e.Seq == 0 {
				continue
			}
			if !yield(e, err) || err != nil || e.Seq >= s.Last {
				return
			}
		}
	}
}

// Summary implements session.Reader.
func (l serverLog) Summary(ctx context.Context, k session.Key) (session.Summary, error) {
	s, err := l.c.Session(ctx, k.Stream)
	return summaryOf(k.Tenant, &s), err
}

// List implements session.Reader.
func (l serverLog) List(ctx context.Context, tenant string, q session.Query) iter.Seq2[session.Summary, error] {
	return func(yield func(session.Summary, error) bool) {
		for s, err := range l.c.Sessions(ctx, client.SessionQuery{Status: q.Status, Profile: q.Profile, Limit: q.Limit}) {
			if !yield(summaryOf(tenant, &s), err) {
				return
			}
		}
	}
}

// summaryOf is the summary of which a server shows a session.
func summaryOf(tenant string, s *client.Session) session.Summary {
	sum := session.Summary{
		Key: session.Key{Tenant: tenant, Stream: s.ID}, Profile: s.Profile, Title: s.Title, Shared: true,
		Created: s.Created, Updated: s.Updated, LastActive: s.LastActive, Turns: s.Turns, Usage: s.Usage,
		Last: s.Last, Children: s.Children, Origin: s.Origin, Why: s.Why, Notes: s.Waiting, Held: s.Waiting,
		Suspended: s.Status == session.Waiting, Failed: s.Status == session.Failed,
		Open: s.Status == session.Waiting || s.Status == session.Running,
	}
	if set := s.Settings; set != nil {
		sum.Settings.Model, sum.Settings.Thinking = set.Model, set.Thinking
		if set.Temperature != nil {
			sum.Settings.Temperature = strconv.FormatFloat(*set.Temperature, 'g', -1, 64)
		}
	}
	return sum
}

func (s server) Export(ctx context.Context, k session.Key, w io.Writer) error {
	return s.c.Export(ctx, k.Stream, w)
}

func (s server) Import(ctx context.Context, tenant string, r io.Reader) (session.Key, error) {
	id, err := s.c.Import(ctx, r)
	return session.Key{Tenant: tenant, Stream: id}, err
}

// Outdated lists the sessions that are at rest, and in which nothing has happened since
// a time.
func (s server) Outdated(ctx context.Context, tenant string, since time.Time) ([]session.Summary, error) {
	var list []session.Summary
	for one, err := range s.c.Sessions(ctx, client.SessionQuery{}) {
		if err != nil {
			return nil, err
		}
		if sum := summaryOf(tenant, &one); one.Updated.Before(since) && sum.AtRest() {
			list = append(list, sum)
		}
	}
	return list, nil
}

// PruneAll leaves out of what it returns the sessions that are not at rest any more,
// hold a worktree, or are gone already.
func (s server) PruneAll(ctx context.Context, list []session.Summary) (pruned []session.Key, err error) {
	for i := range list {
		err := s.c.DeleteSession(ctx, list[i].Key.Stream)
		var refused *client.Error
		switch {
		case err == nil:
			pruned = append(pruned, list[i].Key)
		case !errors.As(err, &refused) || refused.Code != "Busy" && refused.Code != "HoldsWorktree" && refused.Code != "SessionNotFound":
			return pruned, err
		}
	}
	return pruned, nil
}

// HoldsWorktree does not know: the server refuses to prune a session that does.
func (server) HoldsWorktree(string) error { return nil }

func (s server) Usage(ctx context.Context, tenant string, q session.UsageQuery, limit int) (view.Usage, error) {
	if tenant != "" || slices.Contains(q.By, session.ByTenant) {
		return view.Usage{}, usagef("--tenant and --by tenant are for this machine: a server shows what the key's tenant has used")
	}
	by := make([]string, len(q.By))
	for i, one := range q.By {
		by[i] = string(one)
	}
	ask := client.UsageQuery{Profile: q.Profile, Model: q.Model, User: q.User, Key: q.KeyID, By: strings.Join(by, ","), Limit: limit}
	if q.From != 0 {
		ask.Since = q.From.String()
	}
	if q.To != 0 {
		ask.Until = q.To.String()
	}
	return s.c.Usage(ctx, ask)
}
