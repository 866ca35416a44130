package tool

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/rosterrun/roster/permission"
)

// Revert is the name of the tool by which a model gives up what it has tried. The
// subject of its rules is the category.
const Revert = "revert_to"

// Reverting is a Tool whose calls, where they end well, have the conversation go
// on from before the model's last answers. What was said since then is left out
// of what is sent from then on, but for the call and its result.
type Reverting interface {
	// Back is what a call says.
	Back(input []byte) Back
}

// Back says how far a conversation goes back, and what is kept of it.
type Back struct {
	Answers  int    `json:"answers"` // of the model that are given up, without the call's own; 0: all since the user's last message
	Category string `json:"category"`
	Text     string `json:"text"`
}

// NewRevert makes the tool revert_to.
func NewRevert() Tool { return revertTool{define(Revert, nil)} }

type revertTool struct{ defined }

// Recovery implements Recoverer: nothing happens before the batch has ended.
func (revertTool) Recovery(Call) Recovery { return Repeat }

// Back implements Reverting.
func (revertTool) Back(input []byte) (b Back) {
	if json.Unmarshal(input, &b) != nil {
		return Back{}
	}
	return b
}

func (t revertTool) Prepare(_ context.Context, c Call) (Plan, error) {
	b := t.Back(c.Input)
	if c.Revert == nil {
		return nil, errors.New("nothing can be given up here")
	}
	if err := c.Revert(b); err != nil {
		return nil, err
	}
	return revertPlan(b), nil
}

type revertPlan Back

func (p revertPlan) Needs() []permission.Query {
	return []permission.Query{{Tool: Revert, Subject: p.Category}}
}

func (p revertPlan) Run(context.Context, func(string)) (Result, error) {
	return Text("What you tried since here was taken out of the conversation, as you asked. Files and everything else that was changed stay as they are. " +
		"Go on with what you have noted."), nil
}

func (revertPlan) Close() error { return nil }
