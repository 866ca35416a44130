package session

// Command is a prompt that was called by its name.
type Command struct {
	Name      string `json:"name"` // without the slash
	Arguments string `json:"arguments,omitempty"`
	File      string `json:"file,omitempty"` // that says what it comes to; empty: none does
}

// Typed is the command as a person types it.
func (c *Command) Typed() string {
	if c.Arguments == "" {
		return "/" + c.Name
	}
	return "/" + c.Name + " " + c.Arguments
}
