// Cmd makes a workspace that is full of data, for trying things out:
//
//	go run ./internal/seed/cmd DIR
//	roster serve --dir DIR --trust
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/rosterrun/roster/internal/seed"
	"github.com/rosterrun/roster/sandbox"
)

func main() {
	sandbox.Main() // the program starts itself for commands
	var o seed.Options
	flag.StringVar(&o.State, "state", "", "the `folder` of the database; default: where roster looks for it")
	flag.IntVar(&o.Sessions, "sessions", seed.Sessions, "how `many` sessions there are")
	flag.IntVar(&o.Events, "events", seed.Events, "how `many` events the longest one has")
	flag.IntVar(&o.Profiles, "profiles", 0, "how `many` further profiles there are")
	now := flag.String("now", "", "when the last session ran, as a `time` of RFC 3339; default: now")
	flag.Parse()
	if err := run(o, *now); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(o seed.Options, now string) (err error) {
	if flag.NArg() != 1 {
		return fmt.Errorf("seed: name one folder, which is made")
	}
	o.Dir = flag.Arg(0)
	if now != "" {
		if o.Now, err = time.Parse(time.RFC3339, now); err != nil {
			return fmt.Errorf("seed: --now: %w", err)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	began := time.Now()
	made, err := seed.Make(ctx, o)
	if err != nil {
		return err
	}
	fmt.Printf("%d sessions, of which %d wait for a person; %d jobs of the rig; the longest session is %s; in %s\n",
		made.Sessions, made.Waiting, made.Jobs, made.Long, time.Since(began).Round(time.Millisecond))
	return nil
}
