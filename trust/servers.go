package trust

import (
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// ServerItem is what has to be trusted of an MCP server. key is that of the value
// which the entry stands in, and at the place of the item.
func ServerItem(name, key string, e profile.ServerEntry, at source.Origin) Item {
	if e.Off {
		return Item{Kind: Server, Profile: name, Key: join(key, e.Name), At: at}
	}
	return NewItem(Server, name, join(key, e.Key), at, e.Item)
}
