package mcp

import (
	"context"
	"strconv"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/session"
)

// notices tell a client how a call goes on: as progress if it asked for that, and
// as log messages from the level on that it has set.
type notices struct {
	ctx    context.Context
	client *sdk.ServerSession
	token  any
	stream string
	turn   int
	sent   float64
}

// see takes in the next event.
func (n *notices) see(e *session.Event) {
	if e.Seq == 0 { // the pieces of a text
		return
	}
	body, err := e.Decode()
	if err != nil {
		return
	}
	who := ""
	if e.Depth > 0 {
		who = "↳ "
	}
	switch b := body.(type) {
	case *session.TurnStart:
		if e.Depth == 0 {
			n.turn = e.Turn
			n.progress("turn " + strconv.Itoa(e.Turn))
		}
	case *session.ToolBefore:
		call := who + render.Call(b.Tool, b.Input)
		n.progress(call)
		n.log("debug", "tool", call)
	case *session.PermissionAsked:
		n.progress(who + "waits for an approval")
	case *session.InputAsked:
		n.progress(who + "waits for an answer")
	case *session.Retry:
		n.log("warning", "retry", who+b.Error)
	case *session.Limit:
		n.log("warning", "limit", who+b.Limit)
	case *session.LoopEnd:
		if e.Depth == 0 {
			n.log("info", "ended", string(b.Reason))
		}
	}
}

func (n *notices) progress(text string) {
	if n.token == nil {
		return
	}
	n.sent++
	// One that does not arrive is not missed: the answer says all.
	_ = n.client.NotifyProgress(n.ctx, &sdk.ProgressNotificationParams{ProgressToken: n.token, Progress: n.sent, Message: text})
}
