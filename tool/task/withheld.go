package task

import (
	"context"
	"errors"

	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/tool"
)

// Withheld makes the tool of that name for an agent that cannot use it, which
// text says why.
func Withheld(name, text string) tool.Tool {
	return &withheld{&model.ToolDef{Name: name, Schema: []byte(`{"type": "object"}`)}, text}
}

type withheld struct {
	def  *model.ToolDef
	text string
}

func (w *withheld) Def() *model.ToolDef { return w.def }
func (w *withheld) Withheld() string    { return w.text }

func (w *withheld) Prepare(context.Context, tool.Call) (tool.Plan, error) {
	return nil, errors.New(w.text)
}
