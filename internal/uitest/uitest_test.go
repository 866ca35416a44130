// Package uitest looks at the web page as people do: in a browser, on a server with a
// workspace full of data. It has tests alone.
package uitest

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/seed"
	"github.com/rosterrun/roster/sandbox"
)

// What all tests use: one browser, in which each has a tab, and one server, whose
// workspace they leave as it is.
var (
	browser context.Context
	shop    string // its address
	longest string // the id of its longest session, of 5,000 events
)

func TestMain(m *testing.M) {
	sandbox.Main() // the program starts itself for commands
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "uitest")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	stop, err := start()
	if err != nil {
		return 1, err
	}
	defer stop()
	o := options(dir)
	made, err := seed.Make(context.Background(), o)
	if err != nil {
		return 1, err
	}
	longest = made.Long
	shopServer, err := serve(roster.Options{Dir: o.Dir, State: o.State, Getenv: o.Getenv, Trust: true})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shopServer.close()) }()
	shop = shopServer.url
	return m.Run(), nil
}

// start starts the browser.
func start() (stop func(), err error) {
	program, err := exec.LookPath("chromium")
	if err != nil {
		return nil, fmt.Errorf("there is no chromium, which make need installs: %w", err)
	}
	how := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.WindowSize(1280, 800))
	if os.Geteuid() == 0 { // it has no sandbox for root
		how = append(how, chromedp.NoSandbox)
	}
	allocator, release := chromedp.NewExecAllocator(context.Background(), how...)
	ctx, closeBrowser := chromedp.NewContext(allocator)
	stop = func() { closeBrowser(); release() }
	if err := chromedp.Do(ctx); err != nil {
		stop()
		return nil, err
	}
	browser = ctx
	return stop, nil
}

// options are those of a small workspace in a folder.
func options(dir string) seed.Options {
	return seed.Options{
		Dir: filepath.Join(dir, "shop"), State: filepath.Join(dir, "state"), Sessions: seed.Sessions,
		Getenv: func(name string) string {
			return map[string]string{"ROSTER_HOME": filepath.Join(dir, "home"), "PATH": os.Getenv("PATH")}[name]
		},
	}
}

// server serves a workspace until it is closed.
type server struct {
	app *roster.App
	url string
	end *httptest.Server
}

func serve(o roster.Options) (*server, error) {
	app, err := roster.NewApp(o)
	if err != nil {
		return nil, err
	}
	s := httptest.NewServer(app)
	return &server{app, s.URL, s}, nil
}

func (s *server) close() error {
	s.end.CloseClientConnections() // tabs follow what happens
	s.end.Close()
	return closeApp(s.app)
}

func closeApp(app *roster.App) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return app.Close(ctx)
}
