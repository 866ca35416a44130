package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model/script"
)

func TestSessionsAreResources(t *testing.T) {
	s := newSite(t, nil, script.Reply{Text: "# not a heading\nsecond line"})
	c := s.connect(nil)
	empty, err := c.ListResources(t.Context(), nil)
	if err != nil || len(empty.Resources) != 0 || empty.CacheScope != "private" {
		t.Fatalf("before the first: %+v %v", empty, err)
	}
	out, _ := call(t, c, "echo", args{"prompt": "## user\nhello \u202e there\x1b[2J"})
	uri := "roster://sessions/" + out.Session
	list, err := c.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 1 || list.Resources[0].URI != uri || list.Resources[0].Description != "echo, idle, turns 1" {
		t.Fatalf("list %+v %v", list, err)
	}
	res, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil || len(res.Contents) != 1 || res.Contents[0].MIMEType != "text/markdown" {
		t.Fatalf("read %+v %v", res, err)
	}
	text := res.Contents[0].Text
	for _, want := range []string{"\n## user\n\n> ## user\n> hello \\u202e there\\x1b[2J\n", "\n## assistant\n\n> # not a heading\n> second line\n", out.Session + " · echo · idle"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	res, err = c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri + "/messages"})
	if err != nil || res.Contents[0].MIMEType != "application/json" {
		t.Fatalf("read %+v %v", res, err)
	}
	var conv view.Conversation
	if err := json.Unmarshal([]byte(res.Contents[0].Text), &conv); err != nil || conv.ID != out.Session || len(conv.Messages) != 2 {
		t.Errorf("messages %s %v", res.Contents[0].Text, err)
	}
	templates, err := c.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 2 {
		t.Errorf("templates %+v %v", templates, err)
	}
}

func TestResourcesThatAreNone(t *testing.T) {
	s := newSite(t, nil)
	c := s.connect(nil)
	for name, uri := range map[string]string{
		"not there":      "roster://sessions/01a20249-4d1a-7d5a-9cec-ea1fb330be1f",
		"a path":         "roster://sessions/../../etc/passwd",
		"another scheme": "file:///etc/passwd",
		"no id":          "roster://sessions/",
		"a query":        "roster://sessions/01a20249-4d1a-7d5a-9cec-ea1fb330be1f?x=1",
		"escaped":        "roster://sessions/%2e%2e",
		"long":           "roster://sessions/01a20249-4d1a-7d5a-9cec-ea1fb330be1f" + strings.Repeat("~1", 500),
		"empty":          "",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil || !strings.Contains(err.Error(), "not found") {
				t.Errorf("read: %v", err)
			}
			if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err == nil {
				t.Error("subscribed")
			}
		})
	}
	if _, err := c.ListResources(t.Context(), &sdk.ListResourcesParams{Cursor: "../x"}); err == nil || !strings.Contains(err.Error(), "cursor") {
		t.Errorf("cursor: %v", err)
	}
}

func TestSessionsHavePages(t *testing.T) {
	s := newSite(t, nil, script.Reply{Text: "ok"})
	const n = 230
	for range n {
		if _, err := s.app.Submit(t.Context(), roster.Ask{Profile: "echo", Parts: []message.Part{message.Text{Text: "x"}}, Headless: true}); err != nil {
			t.Fatal(err)
		}
	}
	c := s.connect(nil)
	seen, pages := map[string]bool{}, 0
	for cursor := ""; pages == 0 || cursor != ""; pages++ {
		list, err := c.ListResources(t.Context(), &sdk.ListResourcesParams{Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.Resources {
			seen[r.URI] = true
		}
		cursor = list.NextCursor
	}
	if len(seen) != n || pages != 3 {
		t.Errorf("%d sessions on %d pages", len(seen), pages)
	}
	ref := &sdk.CompleteReference{Type: "ref/resource", URI: "roster://sessions/{id}"}
	res, err := c.Complete(t.Context(), &sdk.CompleteParams{Ref: ref, Argument: sdk.CompleteParamsArgument{Name: "id", Value: ""}})
	if err != nil || len(res.Completion.Values) != 100 || !res.Completion.HasMore {
		t.Errorf("completion: %d values, more %v, %v", len(res.Completion.Values), res.Completion.HasMore, err)
	}
	id := s.newest(t)
	res, err = c.Complete(t.Context(), &sdk.CompleteParams{Ref: ref, Argument: sdk.CompleteParamsArgument{Name: "id", Value: id[:35]}})
	if err != nil || len(res.Completion.Values) < 1 || res.Completion.Values[0] != id {
		t.Errorf("completion: %+v %v", res.Completion, err)
	}
}

func TestSubscription(t *testing.T) {
	s := newSite(t, nil, script.Reply{Text: "one"}, script.Reply{Text: "two"}, script.Reply{Text: "three"})
	updated := make(chan string, 100)
	c := s.connect(&sdk.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) {
		updated <- r.Params.URI
	}})
	out, _ := call(t, c, "echo", args{"prompt": "a"})
	uri := "roster://sessions/" + out.Session
	if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	call(t, c, "echo", args{"prompt": "b", "session": out.Session})
	if got := wait(t, updated); got != uri {
		t.Errorf("updated %q", got)
	}
	if err := c.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	for len(updated) > 0 {
		<-updated
	}
	call(t, c, "echo", args{"prompt": "c", "session": out.Session})
	if err := c.Ping(t.Context(), nil); err != nil { // what was sent before has come
		t.Fatal(err)
	}
	if len(updated) > 1 { // one may have been under way
		t.Errorf("%d updates after unsubscribing", len(updated))
	}
}

// TestSubscriberLeaves: what it subscribed to is followed no longer; goleak sees
// to that.
func TestSubscriberLeaves(t *testing.T) {
	s := newSite(t, nil, script.Reply{Text: "one"})
	c := s.connect(nil)
	out, _ := call(t, c, "echo", args{"prompt": "a"})
	for _, tail := range []string{"", "/messages"} {
		if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "roster://sessions/" + out.Session + tail}); err != nil {
			t.Fatal(err)
		}
	}
	c.Close()
}
