package roster_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/message"
)

// Opens a workspace, asks one of its profiles and waits for the answer.
func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "workspace")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, content := range map[string]string{
		"profiles/greeter.md": "---\nname: greeter\ndescription: Greets.\nmodel: script:replies.yaml\n---\nYou greet people.\n",
		"replies.yaml":        "replies: [{text: Good morning!}]\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			log.Fatal(err)
		}
	}

	app, _, err := roster.Open(dir, roster.Options{State: filepath.Join(dir, "state")})
	if err != nil {
		log.Fatal(err)
	}
	defer app.Close(ctx)
	asked, err := app.Submit(ctx, roster.Ask{
		Profile: "greeter", Parts: []message.Part{message.Text{Text: "Hello"}}, Headless: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	answer := roster.Watch{Post: asked.Post}
	for events, err := range app.Follow(ctx, asked.Key, asked.After()) {
		if err != nil {
			log.Fatal(err)
		}
		for i := range events {
			if end := answer.See(&events[i]); end != nil {
				fmt.Println(end.Reason, end.Text)
				return
			}
		}
	}
	// Output: done Good morning!
}
