package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/host"
)

func (c *cli) serveCommand() *cobra.Command {
	var addr string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the workspace over HTTP, on loopback",
		Long: `Serves profiles, prompts, sessions and their event streams over HTTP, and takes up
every run of the workspace that another server left unfinished.

It listens on loopback only: nobody is asked who they are. An interrupt lets
running turns finish and hands over the rest; the next server goes on with it.`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.serve(cmd.Context(), addr) },
	}
	cmd.Flags().StringVar(&addr, "addr", "", "the `ADDRESS` to listen on (default 127.0.0.1:7788); port 0 picks a free one")
	return cmd
}

func (c *cli) serve(ctx context.Context, addr string) error {
	level := slog.LevelInfo
	if c.quiet {
		level = slog.LevelError
	}
	log := slog.New(slog.NewTextHandler(c.stderr, &slog.HandlerOptions{Level: level}))
	o := roster.Options{Claim: true, Log: log}
	if addr != "" {
		o.Flags = map[string]string{"server.addr": addr}
	}
	app, err := c.open(o)
	if err != nil {
		return err
	}
	return c.close(app, c.serveApp(ctx, app))
}

// serverGC lets the heap of a server grow to five times what is in use between
// two collections: what is in use is small.
const serverGC = 400

// grace is how long requests may still take when the server stops.
const grace = 10 * time.Second

func (c *cli) serveApp(ctx context.Context, app *roster.App) error {
	l, err := host.Listen(ctx, app.Config().Server.Addr.V)
	if err != nil {
		return err
	}
	defer l.Close()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	if err := app.Start(ctx); err != nil {
		return err
	}
	debug.SetGCPercent(serverGC)
	watching, unwatch := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { app.LogProfiles(watching) })
	defer watch.Wait()
	defer unwatch()
	server := host.Server(l.Addr().String(), app.Handler())
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	c.sayAddress(app.Dir(), "http://"+l.Addr().String())
	select {
	case err := <-failed:
		return err
	case <-signals:
	}
	if !c.quiet {
		fmt.Fprintln(c.stderr, "roster: stopping; interrupt again to end at once")
	}
	signal.Stop(signals) // the second signal ends the program at once
	stop, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	err = server.Shutdown(stop)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

func (c *cli) sayAddress(dir, url string) {
	if c.json {
		c.writeJSON(map[string]string{"url": url, "workspace": dir})
	} else if !c.quiet {
		fmt.Fprintf(c.stderr, "roster: serving %s at %s\n", dir, url)
	}
}
