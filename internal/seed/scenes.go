package seed

import (
	"fmt"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
)

// scenes are all that is played. A text is answered by what was learned for it, so each
// has the number of its session.
func scenes() []*scene {
	all := readingScenes()
	all = append(all, workingScenes()...)
	all = append(all, failingScenes()...)
	all = append(all, askingScenes()...)
	all = append(all, steeredScenes()...)
	return append(all, longScenes()...)
}

func text(format string) func(int) string {
	return func(n int) string { return fmt.Sprintf(format, n) }
}

func turns(list ...turn) func(int) []turn { return func(int) []turn { return list } }

var goods = []string{"apple", "bread", "butter", "coffee", "milk"}

func readingScenes() []*scene {
	return []*scene{
		{profile: "researcher", weight: 6, prompt: text("Order %d: where does it say when goods may come back?"), turns: turns(
			say("I look for it.", call("grep", `{"pattern":"30 days","path":"docs"}`), call("glob", `{"pattern":"docs/*.md"}`)),
			say("", call("read", `{"path":"docs/handbook.md"}`)),
			say("In `docs/handbook.md`, line 7: *What comes back within 30 days is paid back.* Sales are net of returns."))},
		{profile: "reviewer", weight: 4, prompt: text("Review the way totals are added up, for ticket %d."), turns: turns(
			turn{think: "Totals are in cents. If they were rounded on the way, a cent could go missing. I read the rule before I say anything.",
				Reply: say("First the rule itself.", call("todo", `{"todos":[{"content":"Read the rule","status":"in_progress"},{"content":"Look at what is tested","status":"pending"}]}`), call("read", `{"path":"src/totals.awk"}`)).Reply},
			say("", call("grep", `{"pattern":"totals","path":"tests"}`), call("todo", `{"todos":[{"content":"Read the rule","status":"completed","verified":"read src/totals.awk"},{"content":"Look at what is tested","status":"in_progress"}]}`)),
			say("## Review\n\n1. **Negative totals** are shown as `-1.-5`: `src/totals.awk:4` takes the remainder of a negative number.\n2. Nothing is tested for an empty receipt.\n\n| line | what | how bad |\n|---|---|---|\n| 4 | sign of the remainder | high |\n| 3 | no check of the count | low |\n",
				call("todo", `{"todos":[{"content":"Read the rule","status":"completed","verified":"read"},{"content":"Look at what is tested","status":"completed","verified":"found one test"}]}`)),
			say("Two findings, the first one has to be mended."))},
		{profile: "planner", weight: 2, prompt: text("Plan how we count the stock in week %d."), turns: turns(
			turn{think: "Counting takes long when the shop is open. So it has to be split by shelf, and somebody has to check.",
				Reply: say("I plan first.", call("plan", `{"milestones":["All shelves are counted","The books agree"],"steps":[{"content":"Split the shelves","by":"self"},{"content":"Count each shelf","by":"agent: clerk"},{"content":"Compare with src/stock.csv","by":"tool: read"}]}`)).Reply},
			say("", call("read", `{"path":"src/stock.csv"}`), call("scratchpad", `{"text":"coffee has the most money on the shelf"}`)),
			say("", call("todo", `{"todos":[{"content":"Split the shelves","status":"completed","verified":"two halves"},{"content":"Count each shelf","status":"in_progress"},{"content":"Compare with src/stock.csv","status":"pending"}]}`)),
			say("The plan stands: two halves, coffee first."))},
		{profile: "team/accountant", weight: 2, prompt: text("What did receipt %d come to?"), turns: turns(
			say("", call("read", `{"path":"src/receipts/monday.csv"}`)), say("4.68: six apples and two bottles of milk."))},
		{profile: "docs-writer", weight: 1, prompt: text("Is the handbook clear enough for trainee %d?"), turns: turns(
			say("", call("read", `{"path":"docs/opening-hours.md"}`), call("read", `{"path":"docs/nothing-here.md"}`)),
			say("Mostly. One page that it speaks of, `docs/nothing-here.md`, is not there."))},
	}
}

// caseFile is the file that a session works on.
func caseFile(n int) string { return fmt.Sprintf("src/cases/case-%03d.awk", n) }

func workingScenes() []*scene {
	return []*scene{
		{profile: "fixer", weight: 4, prompt: text("Case %d: the total is off by a cent. Find out why, and mend it."),
			file: func(n int) string {
				return fmt.Sprintf("# Adds up a receipt for case %d.\nBEGIN { FS = \",\" }\n{ total += int($2 * $3 / 100) }\nEND { print total }\n", n)
			},
			turns: func(n int) []turn {
				return []turn{
					say("I look where the cent goes.", call("todo", `{"todos":[{"content":"Find the cause","status":"in_progress"},{"content":"Mend it","status":"pending"},{"content":"Run the tests","status":"pending"}]}`), call("read", `{"path":%q}`, caseFile(n))),
					say("It is rounded on each line, and should be at the end only.", call("edit", `{"path":%q,"old":"int($2 * $3 / 100)","new":"$2 * $3"}`, caseFile(n)), call("edit", `{"path":%q,"old":"print total","new":"printf \"%%.2f\\n\", total / 100"}`, caseFile(n))),
					say("", call("bash", `{"command":"sh tests/run.sh totals"}`), call("write", `{"path":"reports/case-%03d.md","content":"# Case %d\n\nEach line was rounded. Now the sum is.\n"}`, n, n)),
					say("", call("todo", `{"todos":[{"content":"Find the cause","status":"completed","verified":"read the rule"},{"content":"Mend it","status":"completed","verified":"edited"},{"content":"Run the tests","status":"completed","verified":"3 tests pass"}]}`)),
					say(fmt.Sprintf("Mended in `%s`: the sum is rounded, and not each line.\n\n```awk\n{ total += $2 * $3 }\n```", caseFile(n))),
				}
			}},
		{profile: "builder", weight: 3, prompt: text("Run the tests of returns for build %d."), turns: turns(
			say("", call("bash", `{"command":"sh tests/run.sh returns"}`)),
			say("", call("bash", `{"command":"sh tests/run.sh refunds; ls tests"}`)),
			say("**1 of 4 fails**: `returns within 30 days: got 0.00, want 6.38`. There are no tests called refunds."))},
		{profile: "lead", weight: 3, prompt: text("Is release %d ready? Ask those who know."),
			turns: func(n int) []turn {
				return []turn{
					say("I ask two of the team.", call("task", `{"profile":"researcher","description":"find open points","prompt":"What is open for release %d?"}`, n),
						call("task", `{"profile":"reviewer","description":"judge the changes","prompt":"Are the changes of release %d good?"}`, n)),
					say("Nearly. The changes are good; the returns are open."),
				}
			},
			tasks: func(n int) map[string]string {
				return map[string]string{
					fmt.Sprintf("What is open for release %d?", n):        "The tests of returns are open.",
					fmt.Sprintf("Are the changes of release %d good?", n): "They are good. No finding.",
				}
			}},
		{profile: "clerk", weight: 2, prompt: text("Answer letter %d."), turns: turns(
			say("", call("read", `{"path":"docs/opening-hours.md"}`)),
			say("> Dear customer,\n> we are open Monday to Friday from 8 to 18, and on Saturday from 9 to 13.\n"))},
	}
}

func failingScenes() []*scene {
	denied := &script.Failure{Status: 401}
	busy := script.Reply{Error: &script.Failure{Status: 503}}
	return []*scene{
		{profile: "shaky", weight: 2, prompt: text("Sum up page %d."), turns: turns(
			say("", call("read", `{"path":"README.md"}`)), turn{Reply: script.Reply{Text: "The page says", Error: denied}})},
		{profile: "shaky", weight: 1, prompt: text("Sum up page %d, and try again if you have to."), turns: turns(
			turn{Reply: busy}, turn{Reply: busy}, say("It says what the shop has."))},
		{profile: "sprinter", weight: 2, prompt: text("Read all of shelf %d."), turns: func(n int) []turn {
			return []turn{say("", call("read", `{"path":"src/stock.csv"}`)), say("", call("grep", `{"pattern":%q,"path":"src"}`, pick(n, goods...))), say("", call("read", `{"path":"README.md"}`))}
		}},
		{profile: "fixer", weight: 1, prompt: text("Tidy up after case %d."), turns: turns(
			say("", call("bash", `{"command":"rm -rf build"}`)), say("I may not remove folders here, so they are left as they are."))},
		{profile: "tracker", weight: 1, prompt: text("What is the state of issue %d?"), turns: turns(
			say("The server of the issues cannot be reached, so I cannot say."))},
	}
}

func askingScenes() []*scene {
	deploy := func(n int) []turn {
		return []turn{
			say("It is ready. I tag it.", call("bash", `{"command":"echo tag v1.%d && ls docs"}`, n)),
			say(fmt.Sprintf("v1.%d is out.", n)),
		}
	}
	question := turns(
		say("", call("ask_user", `{"question":"Which customers get it first?","options":["all","those nearby","nobody yet"]}`)), say("So be it."))
	handbook := func(n int) []turn {
		return []turn{
			say("", call("read", `{"path":"docs/suppliers.md"}`)),
			say("I add the line.", call("edit", `{"path":"docs/suppliers.md","old":"| Paper Mill | bags | 14 |\n","new":"| Paper Mill | bags | 14 |\n| Supplier %d | %s | 3 |\n"}`, n, pick(n, goods...))),
			say("It is in the list."),
		}
	}
	archive := func(n int) []turn {
		return []turn{say("", call("task", `{"profile":"archivist","description":"read it all","prompt":"Read the books of year %d."}`, n)), say("Nothing of note.")}
	}
	return []*scene{
		{profile: "deployer", weight: 2, prompt: text("Bring out version 1.%d."), turns: deploy, answer: &roster.Answer{Answer: session.AnswerOnce, By: "ada"}},
		{profile: "deployer", weight: 1, prompt: text("Bring out version 1.%d today still."), turns: deploy, answer: &roster.Answer{Answer: session.AnswerNo, Message: "not on a Friday", By: "grace"}},
		{profile: "deployer", weight: 1, prompt: text("Announce version 1.%d."), turns: question, answer: &roster.Answer{Answer: session.AnswerText, Text: "those nearby", By: "ada"}},
		{profile: "deployer", open: true, prompt: text("Bring out version 2.%d, and wait for my word."), turns: deploy},
		{profile: "fixer", open: true, prompt: text("Add supplier %d to the list."), turns: handbook},
		{profile: "deployer", open: true, prompt: text("Announce version 2.%d."), turns: question},
		{profile: "lead", open: true, prompt: text("What do the books of year %d say?"), turns: archive},
	}
}
