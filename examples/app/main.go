// App serves agents that are defined in code, beside those in the files of a workspace.
//
//	go run ./examples/app
//	curl -s 127.0.0.1:7799/chat -d '{"agentId": "analytics", "message": "Which region sold most?"}'
//
// Without --model it answers with a stand-in that needs no key and is no language model.
package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rosterrun/roster"
	helper "github.com/rosterrun/roster/sandbox"
)

func main() {
	helper.Main() // the program starts itself for what runs behind a wall
	addr := flag.String("addr", "127.0.0.1:7799", "the `address` to listen on")
	dir := flag.String("dir", "examples/app/workspace", "the `folder` of the workspace")
	model := flag.String("model", "builtin/demo", "the `model` of the agents, such as openai:gpt-4o")
	flag.Parse()
	if err := serve(*addr, *dir, *model); err != nil {
		slog.Error(err.Error())
		os.Exit(1)
	}
}

// options are all that the server decides; the profiles know nothing of it.
func options(dir, model string) roster.Options {
	return roster.Options{
		Dir:            dir,
		ResolveProfile: roster.StaticResolver(Analytics, Support),
		Defaults:       roster.Defaults{Model: model},
		Log:            slog.Default(),
	}
}

func serve(addr, dir, model string) error {
	app, err := roster.NewApp(options(dir, model))
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/", app)
	server := &http.Server{Addr: addr, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	slog.Info("serving", "address", "http://"+addr, "workspace", app.Dir())
	select {
	case err = <-failed:
		return errors.Join(err, app.Close(context.Background()))
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	// The app first: it ends the streams, which the server would wait for.
	err = errors.Join(app.Close(ending), server.Shutdown(ending))
	if stopped := <-failed; !errors.Is(stopped, http.ErrServerClosed) {
		err = errors.Join(err, stopped)
	}
	return err
}
