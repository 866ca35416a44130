package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cli/browser"
	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/host"
)

func (c *cli) serveCommand() *cobra.Command {
	var log logFlags
	flags := map[string]*string{}
	insecure, noRig, open := false, false, false
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the workspace over HTTP",
		Long: `Serves profiles, prompts, sessions and their event streams over HTTP, and takes up
every run of the workspace that another server left unfinished. Its rigs run (--no-rig).
The address it prints is also that of a web page, from which all of that can be seen and
done; --open shows it.

On loopback, as it is by default, nobody is asked who they are. Other machines can
reach it only where --auth has callers show who they are: by keys that roster keys
makes, by tokens of the OpenID provider that server.auth.oidc in roster.yaml names, or
both; and with a certificate, or behind a proxy that has one (--insecure-http).

An interrupt lets running turns finish and hands over the rest; the next server goes
on with it.`,
		Example: "  roster serve\n  roster serve --addr 0.0.0.0:7788 --auth keys --tls-cert cert.pem --tls-key key.pem",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			given := map[string]string{}
			for key, v := range flags {
				if *v != "" {
					given[key] = *v
				}
			}
			if cmd.Flags().Changed("insecure-http") {
				given["server.insecure-http"] = strconv.FormatBool(insecure)
			}
			return c.serve(cmd.Context(), given, log, extras{rigs: !noRig, open: open})
		},
	}
	for _, f := range []struct{ key, name, usage string }{
		{"server.addr", "addr", "the `ADDRESS` to listen on (default 127.0.0.1:7788); port 0 picks a free one"},
		{"server.auth.kind", "auth", "by what callers show who they `ARE`: none, keys, oidc or keys,oidc (default none)"},
		{"server.hosts", "hosts", "the `NAMES` by which clients may call the server, with commas between, besides localhost and addresses"},
		{"server.tls.cert", "tls-cert", "the `FILE` of the certificate, in PEM; read again when it changes"},
		{"server.tls.key", "tls-key", "the `FILE` of the certificate's private key"},
	} {
		flags[f.key] = cmd.Flags().String(f.name, "", f.usage)
	}
	cmd.Flags().BoolVar(&insecure, "insecure-http", false, "let other machines come without TLS: a proxy in front of it has that")
	cmd.Flags().BoolVar(&noRig, "no-rig", false, "do not run the rigs of the workspace")
	cmd.Flags().BoolVar(&open, "open", false, "open the web page in a browser")
	cmd.Flags().StringVar(&log.format, "log-format", "text", "how the log is written: `FORMAT` text or json")
	cmd.Flags().StringVar(&log.level, "log-level", "", "what the log has at least: `LEVEL` debug, info, warn or error (default info, with --quiet error)")
	return cmd
}

// extras are what is done besides answering requests.
type extras struct{ rigs, open bool }

// logFlags say how a server logs.
type logFlags struct{ format, level string }

// logger makes the log of a server, on standard error.
func (c *cli) logger(f logFlags) (*slog.Logger, error) {
	o := &slog.HandlerOptions{Level: slog.LevelInfo}
	if c.quiet {
		o.Level = slog.LevelError
	}
	if f.level != "" {
		levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
		level, known := levels[f.level]
		if !known {
			return nil, usagef("--log-level takes debug, info, warn or error, not %q", f.level)
		}
		o.Level = level
	}
	switch f.format {
	case "text":
		return slog.New(slog.NewTextHandler(c.stderr, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(c.stderr, o)), nil
	}
	return nil, usagef("--log-format takes text or json, not %q", f.format)
}

func (c *cli) serve(ctx context.Context, flags map[string]string, f logFlags, also extras) error {
	log, err := c.logger(f)
	if err != nil {
		return err
	}
	o := roster.Options{Claim: true, Metrics: true, Log: log, Flags: flags}
	sayFiles(log)
	app, err := c.open(o)
	if err != nil {
		return err
	}
	return c.close(app, c.serveApp(ctx, app, log, also))
}

// serverGC lets the heap of a server grow to five times what is in use between
// two collections: what is in use is small.
const serverGC = 400

// grace is how long requests may still take when the server stops.
const grace = 10 * time.Second

func (c *cli) serveApp(ctx context.Context, app *roster.App, log *slog.Logger, also extras) error {
	l, certs, err := listen(ctx, app, log)
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
	if also.rigs {
		watch.Go(func() {
			if err := app.RunRigs(watching, roster.RigOptions{OnlyTrusted: true}); err != nil {
				log.Error("the rigs do not run as they should", "error", err)
			}
		})
	}
	defer watch.Wait()
	defer unwatch()
	server := host.Server(l.Addr().String(), app.Handler())
	failed := make(chan error, 1)
	url := "http://" + l.Addr().String()
	if server.TLSConfig = certs; certs != nil {
		url = "https" + strings.TrimPrefix(url, "http")
		go func() { failed <- server.ServeTLS(l, "", "") }()
	} else {
		go func() { failed <- server.Serve(l) }()
	}
	c.sayAddress(app.Dir(), url)
	if also.open {
		go c.openPage(url, l.Addr())
	}
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

// listen opens the listener that the configuration asks for, with its certificate,
// if it has one.
func listen(ctx context.Context, app *roster.App, log *slog.Logger) (net.Listener, *tls.Config, error) {
	if err := app.CheckServer(); err != nil {
		return nil, nil, err
	}
	srv := app.Config().Server
	var certs *tls.Config
	if srv.TLSCert.Set {
		var err error
		if certs, err = host.TLS(srv.TLSCert.V, srv.TLSKey.V, log); err != nil {
			return nil, nil, fmt.Errorf("the certificate of the server: %w", err)
		}
	}
	l, err := host.Listen(ctx, srv.Addr.V, host.Access{Auth: srv.Auth.Any(), TLS: certs != nil, Insecure: srv.InsecureHTTP.V})
	return l, certs, err
}

func (c *cli) sayAddress(dir, url string) {
	if c.json {
		c.writeJSON(map[string]string{"url": url, "workspace": dir})
	} else if !c.quiet {
		fmt.Fprintf(c.stderr, "roster: serving %s at %s\n", dir, url)
	}
}

// openPage opens the web page in a browser, where there is one. It may last for as long
// as the browser is open, and ends with the program.
func (c *cli) openPage(url string, at net.Addr) {
	if a, ok := at.(*net.TCPAddr); ok && a.IP.IsUnspecified() {
		url = strings.Replace(url, a.String(), net.JoinHostPort("localhost", strconv.Itoa(a.Port)), 1)
	}
	browser.Stdout, browser.Stderr = c.stderr, c.stderr // what it says is no output of ours
	if err := browser.OpenURL(url); err != nil {
		fmt.Fprintf(c.stderr, "roster: no browser was opened (%v): open %s yourself\n", err, url)
	}
}
