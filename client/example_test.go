package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/client"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

// demo serves a workspace with a profile greeter, whose model is written down.
func demo() (url string, stop func()) {
	dir, err := os.MkdirTemp("", "roster")
	if err != nil {
		panic(err)
	}
	for name, text := range map[string]string{
		"roster.yaml":         "providers: {fake: {api: script, base-url: replies.yaml, models: {text: {context-window: 1000}}}}\n",
		"replies.yaml":        "replies: [{text: Good morning.}, {text: Good night.}]\n",
		"profiles/greeter.md": "---\nmodel: fake/text\ntools: []\n---\nGreet.\n",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			panic(err)
		}
	}
	app, _, err := roster.Open(dir, roster.Options{State: filepath.Join(dir, ".state"), Claim: true})
	if err != nil {
		panic(err)
	}
	h := app.Handler()
	server := httptest.NewServer(h)
	return server.URL, func() {
		h.Shutdown()
		server.Close()
		_ = app.Close(context.Background()) // the example is over
		os.RemoveAll(dir)
	}
}

func Example() {
	url, stop := demo()
	defer stop()
	c, err := client.New(url, client.Options{})
	if err != nil {
		panic(err)
	}
	defer c.Close()
	ctx := context.Background()

	answer, err := c.Chat(ctx, client.Prompt{Profile: "greeter", Message: "It is 8 o'clock."})
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.Text)

	for event, err := range c.Stream(ctx, client.Prompt{Session: answer.SessionID, Message: "It is 11 p.m."}) {
		if err != nil {
			panic(err)
		}
		switch body := event.Body.(type) {
		case *session.Delta: // a piece of the text, as it comes
		case *session.LoopEnd:
			fmt.Println(body.Text, body.Reason)
		}
	}
	// Output:
	// Good morning.
	// Good night. done
}

func ExampleError() {
	url, stop := demo()
	defer stop()
	c, err := client.New(url, client.Options{})
	if err != nil {
		panic(err)
	}
	defer c.Close()

	_, err = c.Profile(context.Background(), "nobody")
	var refused *client.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Status, refused.Code)
	}
	fmt.Println(errors.Is(err, profile.ProfileNotFound))
	// Output:
	// 404 ProfileNotFound
	// true
}
