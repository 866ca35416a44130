package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

func (c *cli) chatCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "chat PROFILE",
		Short: "Talk with a profile in the terminal",
		Long: `Holds a conversation. What you type is a prompt; while the answer comes it steers
the run. Tool calls are shown in a line each, and what has to be allowed is asked
in place.

  /help      what else can be typed, such as /switch, /model, /fork and /copy
  Ctrl-C     cancels the run; where nothing runs it takes away what is typed, and
             then ends the chat
  Up, Down   bring back what was typed before
  Tab        finishes a command, the name of a profile, model or session, and @file
  Ctrl-O     shows what the last tool call gave

/NAME also calls the commands of the workspace (see roster commands). What has
scrolled away stays in the terminal, where it can be searched and copied.

Without a terminal, or with TERM=dumb, each line of standard input is a prompt, and
standard output gets the answers.`,
		Example: `  roster chat reviewer
  roster chat reviewer --continue`,
		Args: arguments(1, "PROFILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.chat(cmd.Context(), args[0], f)
		},
		ValidArgsFunction: c.completeProfiles,
	}
	fs := cmd.Flags()
	fs.StringVar(&f.session, "session", "", "go on with the session `ID`")
	fs.BoolVar(&f.continues, "continue", false, "go on with the newest session of this profile")
	fs.StringVar(&f.model, "model", "", "use this `MODEL`: provider/model-id, an alias, or script:FILE")
	fs.StringArrayVar(&f.set, "set", nil, "override a profile key: `KEY=VALUE`; may be repeated")
	modeFlag(cmd, &f)
	fs.BoolVar(&f.allowAll, "dangerously-allow-all", false, "let the permission mode bypass run everything unasked that is not denied")
	return cmd
}

func (c *cli) chat(ctx context.Context, profile string, f runFlags) error {
	set, err := f.overrides()
	if err != nil {
		return err
	}
	at, err := c.reach()
	if err != nil {
		return err
	}
	return c.close(at, c.chatAt(ctx, at, f, roster.Ask{Key: session.Key{Tenant: roster.LocalTenant, Stream: f.session}, Profile: profile, Flags: set, AllowAll: f.allowAll}))
}

func (c *cli) chatAt(ctx context.Context, at place, f runFlags, ask roster.Ask) error {
	if _, err := at.Profile(ctx, ask.Profile); err != nil {
		return err
	}
	if err := f.settle(ctx, at, &ask); err != nil {
		return err
	}
	talk := terminal(c.stdin) && terminal(c.stdout.file) && !c.json && c.getenv("TERM") != "dumb"
	if h, ok := at.(here); ok {
		if err := c.askTrust(ctx, h.App, ask, talk); err != nil {
			return err
		}
	}
	if !talk {
		return c.chatLines(ctx, at, f, ask)
	}
	return c.chatScreen(ctx, at, f, ask)
}

// chatScreen talks on the terminal.
func (c *cli) chatScreen(ctx context.Context, at place, f runFlags, ask roster.Ask) error {
	ctx, cancel := context.WithCancel(ctx)
	quiet := *c
	quiet.quiet = true // what is written beside the screen would break it
	m := newChat(ctx, &quiet, at, f, ask)
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(c.stdin), tea.WithOutput(c.stdout.file))
	m.send = p.Send
	c.onWait = func(why error) { p.Send(outage{why}) }
	quiet.onNote = func(text string) { p.Send(printed("· " + text)) }
	_, err := p.Run()
	cancel()
	m.work.Wait()
	if m.orphans() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace) // a server may be out of reach
		err = errors.Join(err, at.Cancel(stop, m.ask.Key, "the chat has ended"))
		cancel()
	}
	if errors.Is(err, tea.ErrInterrupted) || errors.Is(err, tea.ErrProgramKilled) {
		return exit(exitInterrupted)
	}
	if err == nil && m.ask.Key.Stream != "" && !c.quiet {
		fmt.Fprintf(c.stderr, "roster: go on with: roster chat %s --session %s\n", m.ask.Profile, m.ask.Key.Stream)
	}
	return err
}

// chatLines takes each line of standard input as a prompt, one after another.
func (c *cli) chatLines(ctx context.Context, at place, f runFlags, ask roster.Ask) error {
	lines := bufio.NewScanner(c.stdin)
	lines.Buffer(nil, maxPrompt)
	ask.Headless = true
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		one := ask
		if err := c.speak(ctx, at, f, text, &one); err != nil {
			return err
		}
		sub, err := at.Submit(ctx, one)
		if err != nil {
			return err
		}
		ask.Key = sub.Key
		w := roster.Watch{Post: sub.Post}
		if err := c.follow(ctx, watched{at: at, key: sub.Key, after: sub.After(), end: w.See}); err != nil {
			return err
		}
	}
	return lines.Err()
}

// speak puts what was typed into ask: text with the files that it names, or a command of
// the workspace.
func (c *cli) speak(ctx context.Context, at place, f runFlags, text string, ask *roster.Ask) error {
	f.nonInteractive = true // the question of trust has been asked
	args := []string{ask.Profile, text}
	if h, ok := at.(here); ok {
		return c.compose(ctx, h.App, args, text, f, ask)
	}
	if mayCall(args) {
		all, err := at.AllCommands(ctx)
		if err != nil {
			return err
		}
		if ask.Profile, text, ask.Command, err = serverCall(args, all.Commands); err != nil {
			return err
		}
	}
	if text != "" {
		ask.Parts = []message.Part{message.Text{Text: text}}
	}
	return nil
}
