package roster_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
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

// Gives the program a say in what agents run.
func ExampleHook() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "workspace")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, content := range map[string]string{
		"cleaner.md":   "---\ndescription: Cleans up.\nmodel: script:replies.yaml\npermission: {bash: allow}\n---\nYou clean up.\n",
		"replies.yaml": "replies: [{tools: [{name: bash, input: {command: rm -r src}}]}, {text: I leave it.}]\n",
	} {
		if name == "cleaner.md" {
			name = filepath.Join("profiles", name)
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			log.Fatal(err)
		}
	}

	app, _, err := roster.Open(dir, roster.Options{State: filepath.Join(dir, "state"), Trust: true, Hooks: []roster.Hook{{
		On: hook.BeforeTool, Match: "bash", Name: "our guard",
		Ask: func(_ context.Context, m *hook.Moment) (hook.Verdict, error) {
			if strings.Contains(string(m.Input), "rm ") {
				return hook.Verdict{Decision: hook.Deny, Reason: "nothing is removed here"}, nil
			}
			return hook.Verdict{Decision: hook.Allow}, nil
		},
	}}})
	if err != nil {
		log.Fatal(err)
	}
	defer app.Close(ctx)
	asked, err := app.Submit(ctx, roster.Ask{Profile: "cleaner", Parts: []message.Part{message.Text{Text: "Clean up."}}})
	if err != nil {
		log.Fatal(err)
	}
	watch := roster.Watch{Post: asked.Post}
	for batch, err := range app.Follow(ctx, asked.Key, asked.After()) {
		if err != nil {
			log.Fatal(err)
		}
		for i := range batch {
			if body, err := batch[i].Decode(); err == nil {
				if h, ok := body.(*session.Hooked); ok {
					fmt.Println(h.By, "said", h.Decision+":", h.Reason)
				}
			}
			if end := watch.See(&batch[i]); end != nil {
				fmt.Println(end.Text)
				return
			}
		}
	}
	// Output:
	// our guard said deny: nothing is removed here
	// I leave it.
}

// Prompts an agent, and gives it more to do while it is at work.
func ExampleAgent() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "workspace")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, content := range map[string]string{
		"greeter.md":   "---\ndescription: Greets.\nmodel: script:replies.yaml\n---\nYou greet people.\n",
		"replies.yaml": "replies: [{text: Good morning!}, {text: Good night!}]\n",
	} {
		if name == "greeter.md" {
			name = filepath.Join("profiles", name)
		}
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
	greeter, err := app.NewAgent("greeter", roster.AgentOptions{Headless: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{"It is eight.", "It is ten."} {
		run, err := greeter.Prompt(ctx, text)
		if err != nil {
			log.Fatal(err)
		}
		end, err := run.Wait(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(end.Text)
	}
	state, err := greeter.State(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(state.Messages), "messages in", state.Loops, "loops")
	// Output:
	// Good morning!
	// Good night!
	// 4 messages in 2 loops
}

// Shows an answer as it is written.
func ExampleRun_Events() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "workspace")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	replies := filepath.Join(dir, "replies.yaml")
	if err := os.WriteFile(replies, []byte("replies: [{text: One word after the other.}]\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "profiles"), 0o700); err != nil {
		log.Fatal(err)
	}
	profile := "---\ndescription: Speaks.\nmodel: script:replies.yaml\n---\nYou speak.\n"
	if err := os.WriteFile(filepath.Join(dir, "profiles", "speaker.md"), []byte(profile), 0o600); err != nil {
		log.Fatal(err)
	}

	app, _, err := roster.Open(dir, roster.Options{State: filepath.Join(dir, "state")})
	if err != nil {
		log.Fatal(err)
	}
	defer app.Close(ctx)
	speaker, err := app.NewAgent("speaker", roster.AgentOptions{Headless: true})
	if err != nil {
		log.Fatal(err)
	}
	run, err := speaker.Prompt(ctx, "Speak.")
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range run.Events(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		switch b := e.Body.(type) {
		case *session.Delta:
			fmt.Print(b.Text)
		case *session.LoopEnd:
			fmt.Println(" —", b.Reason)
		}
	}
	// Output: One word after the other. — done
}
