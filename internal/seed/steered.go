package seed

import (
	"fmt"
	"strings"
	"time"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model/script"
)

// slowly is how long a model takes that somebody interrupts.
const slowly = 150 * time.Millisecond

func slow(t turn) turn {
	t.Delay = slowly
	return t
}

// steeredScenes are those in which a person says more than one thing.
func steeredScenes() []*scene {
	look := slow(say("I begin with the stock.", call("read", `{"path":"src/stock.csv"}`)))
	return []*scene{
		{profile: "researcher", weight: 1, prompt: text("Count what is on shelf %d."), turns: turns(look, slow(say("Coffee only, then: 31.")), say("31 it is.")),
			during: func(r *run) error { return r.app.Steer(r.ctx, r.key, said("Only the coffee, please.")) }},
		{profile: "researcher", weight: 1, prompt: text("Look at shelf %d."), turns: turns(look, say("All five kinds are there."), say("Milk is next, on Thursday.")),
			during: func(r *run) error { return r.app.Followup(r.ctx, r.key, said("Then say what has to be bought next.")) }},
		{profile: "researcher", weight: 1, prompt: text("Count everything in store %d."), turns: turns(slow(say("This takes a while.", call("read", `{"path":"src/stock.csv"}`))), turn{Reply: script.Reply{Delay: time.Minute}}),
			during: func(r *run) error { return r.app.Cancel(r.ctx, r.key, "not needed any more") }},
		{profile: "researcher", weight: 1, prompt: text("Which of the goods of day %d cost most?"), turns: turns(
			say("", call("read", `{"path":"src/stock.csv"}`)), say("Coffee, with 6.49."), say("Apples, with 0.35."), say("Coffee is still the dearest.")),
			after: func(r *run) error {
				if err := r.ask("And which cost least?"); err != nil {
					return err
				}
				return r.fork("Say it once more, in one line.")
			}},
		{profile: "researcher", weight: 1, prompt: text("What is in delivery %d?"), turns: turns(say("Bread, I think."), say("Bread and milk.")),
			after: func(r *run) error {
				sub, err := r.app.Rerun(r.ctx, r.key, "", roster.Ask{Key: r.key, User: r.user})
				if err != nil {
					return err
				}
				if err := r.finish(sub); err != nil {
					return err
				}
				if err := r.rest(); err != nil {
					return err
				}
				_, err = r.app.Revert(r.ctx, r.key, "")
				return err
			}},
		{profile: "fixer", weight: 1, prompt: text("Write a note about shelf %d."), turns: func(n int) []turn {
			return []turn{say("", call("write", `{"path":"reports/shelf-%03d.md","content":"Shelf %d is half empty.\n"}`, n, n)), say("It is written.")}
		}, after: func(r *run) error {
			_, err := r.app.Undo(r.ctx, r.key, roster.UndoOptions{User: r.user})
			return err
		}},
	}
}

func said(text string) []message.Part { return []message.Part{message.Text{Text: text}} }

// longScenes are conversations that go on.
func longScenes() []*scene {
	written := say("It is written down: " + strings.Repeat("goods came in and went out, and all were counted; ", 12))
	written.Usage = &script.Usage{Input: 600, CacheRead: 2200, Output: 150} // more than its profile likes
	return []*scene{
		{profile: "chronicler", weight: 1, prompt: text("Write down what happened in week %d. It began with a delivery."), turns: turns(written),
			after: func(r *run) error {
				for i := range 8 {
					if err := r.ask(fmt.Sprintf("On day %d: %s", i+1, strings.Repeat("the baker came late, the milk was sold out by noon, ", 14))); err != nil {
						return err
					}
				}
				return nil
			}},
		{profile: "archivist", long: true, prompt: text("Read the books of the shop again, from page %d on."), turns: reading, after: func(r *run) error {
			for page := 1; r.last < int64(r.o.Events); page++ {
				if err := r.ask(fmt.Sprintf("Go on with page %d.", page)); err != nil {
					return err
				}
			}
			return nil
		}},
	}
}

// reading are turns that read this and that, and then say what there was.
func reading(int) (list []turn) {
	for i := range 12 {
		list = append(list, say(fmt.Sprintf("Part %d.", i+1),
			call("read", `{"path":"src/stock.csv","offset":%d,"limit":1}`, i%5+1),
			call("grep", `{"pattern":%q,"path":"src"}`, pick(i, goods...)),
			call("read", `{"path":"docs/handbook.md","offset":%d,"limit":2}`, i%6+1),
			call("glob", `{"pattern":%q}`, pick(i, "src/*.csv", "docs/*.md", "tests/*")),
			call("read", `{"path":%q}`, pick(i, "src/receipts/monday.csv", "src/receipts/tuesday.csv", "docs/opening-hours.md"))))
	}
	return append(list, say("Nothing is missing on this page."))
}
