package host

import (
	"context"
	"net/http"
)

// callBody names a command instead of a message.
type callBody struct {
	Name      string `json:"name" schema:"required;min=1"` // with or without the slash
	Arguments string `json:"arguments"`
}

// commands lists the prompts that are called by a name.
func (h *Host) commands(w *response, r *http.Request) error {
	list, err := h.deps.Commands(r.Context())
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, list)
}

// call makes the prompt of a request that names a command. Nobody is there to be asked
// for what the command does: what the rules do not allow is denied.
func (h *Host) call(ctx context.Context, b *askBody, ask Ask) (Ask, error) {
	name := b.Command.Name
	if len(name) > 1 && name[0] == '/' {
		name = name[1:]
	}
	if ask.Key.Stream != "" {
		if err := h.exists(ctx, ask.Key); err != nil {
			return ask, err
		}
	}
	return h.deps.Call(ctx, ask, name, b.Command.Arguments)
}
