// Package seed makes a workspace that is full of data, for trying things out: profiles in
// many dialects, a small project, and a database of sessions that really ran. What the
// models say is written down, so that the texts are the same each time; the times are
// spread over the days before Options.Now.
package seed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/session"
)

// Bounds and defaults of Options.
const (
	Sessions = 500
	Events   = 5000
	days     = 14
	// atOnce is how many sessions run at a time.
	atOnce = 8
)

// Options say what is made.
type Options struct {
	// Dir is the workspace, which is created. There must be no roster.yaml in it.
	Dir string
	// State is where the database is; empty: where the command line looks for it.
	State string
	// Sessions is how many there are to be; 0: Sessions. There is at least one of each
	// kind, some thirty in all.
	Sessions int
	// Events is how many the longest session has at least; 0: Events.
	Events int
	// Profiles is how many more profiles there are, of no interest each; 0: none.
	Profiles int
	// Now is when the last session ran; zero: now.
	Now time.Time
	// Getenv reads the environment; nil: the process's.
	Getenv func(string) string
}

// Made says what there is.
type Made struct {
	Sessions int    // with forks, without those of subagents
	Waiting  int    // that wait for a person
	Jobs     int    // of the rig
	Long     string // the id of the longest session
}

// Make makes a workspace, and runs what is to be in its database. The program has to
// call sandbox.Main first, as for every App that runs commands.
func Make(ctx context.Context, o Options) (made Made, err error) {
	if o.Sessions == 0 {
		o.Sessions = Sessions
	}
	if o.Events == 0 {
		o.Events = Events
	}
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	plan := planned(o.Sessions)
	if err := writeFiles(o, plan); err != nil {
		return made, err
	}
	s, err := open(ctx, o)
	if err != nil {
		return made, err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		err = errors.Join(err, s.app.Close(closing))
	}()
	if err := s.playAll(ctx, plan); err != nil {
		return made, err
	}
	if made.Jobs, err = s.runRig(ctx); err != nil {
		return made, err
	}
	if err := writeFurther(o.Dir, o.Profiles); err != nil { // last: each run looks at all profiles
		return made, err
	}
	return s.count(ctx, made)
}

// stage is where the sessions run.
type stage struct {
	app   *roster.App
	clock *shifted
	cast  *cast
	o     Options
}

func open(ctx context.Context, o Options) (*stage, error) {
	s := &stage{clock: newShifted(o.Now), cast: &cast{}, o: o}
	models := rigModels()
	for _, name := range []string{"acme/large", "acme/small", "north/reason"} {
		models[name] = s.cast.as(name)
	}
	app, _, err := roster.Open(o.Dir, roster.Options{
		State: o.State, Getenv: o.Getenv, Models: models, Trust: true, Claim: true,
		Flags: map[string]string{"store-sync": "normal"}, // it can be made again
	})
	if err != nil {
		return nil, err
	}
	s.app = app
	if err := app.Start(clock.With(ctx, s.clock)); err != nil {
		return nil, errors.Join(err, app.Close(context.WithoutCancel(ctx)))
	}
	return s, nil
}

// count looks what there is now.
func (s *stage) count(ctx context.Context, made Made) (Made, error) {
	store, err := s.app.Backend(ctx)
	if err != nil {
		return made, err
	}
	longest := int64(0)
	for sum, err := range store.List(ctx, roster.LocalTenant, session.Query{}) {
		if err != nil {
			return made, err
		}
		made.Sessions++
		if sum.Status() == session.Waiting {
			made.Waiting++
		}
		if sum.Last > longest {
			longest, made.Long = sum.Last, sum.Key.Stream
		}
	}
	if longest < int64(s.o.Events) {
		return made, fmt.Errorf("seed: the longest session has %d events, and not %d", longest, s.o.Events)
	}
	return made, nil
}
