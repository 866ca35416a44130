package mcp

import "fmt"

// maxValues bounds how many objects and lists a message may hold. One that holds
// nothing takes two bytes of a message, and hundreds when it has been read.
const maxValues = 100_000

var errValues = fmt.Errorf("a message of more than %d objects and lists", maxValues)

// counter counts the objects and lists of a message as it comes. In a stream of events
// each event is a message.
type counter struct {
	events        bool
	quoted, after bool // in a string; after a backslash
	last          byte
	n             int
}

// feed says whether there are still no more than there may be.
func (c *counter) feed(part []byte) bool {
	for _, b := range part {
		switch {
		case b == '\n': // in no string
			if c.quoted, c.after = false, false; c.events && c.last == '\n' {
				c.n = 0
			}
		case b == '\r':
			continue
		case c.quoted:
			c.quoted = c.after || b != '"'
			c.after = !c.after && b == '\\'
		case b == '"':
			c.quoted = true
		case b == '{' || b == '[':
			c.n++
		}
		c.last = b
	}
	return c.n <= maxValues
}
