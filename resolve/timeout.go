package resolve

import (
	"errors"
	"slices"
	"time"

	"github.com/rosterrun/roster/profile"
)

const toolTimeout = "tool-timeout"

func parseTimeout(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err == nil && d <= 0 {
		err = errors.New("it is not above zero")
	}
	return d, err
}

// narrowTimeout takes out of a request what would give tools more time.
func (r *resolver) narrowTimeout(keys *profile.Profile) {
	get := func(p *profile.Profile) profile.Value[time.Duration] {
		x, ok := kept(p, toolTimeout)
		if !ok {
			return profile.Value[time.Duration]{}
		}
		node, err := x.Node()
		if err != nil {
			return profile.Value[time.Duration]{}
		}
		d, err := parseTimeout(node.Value)
		return profile.Value[time.Duration]{V: d, Set: err == nil, At: x.At}
	}
	if asked, below := get(keys), strongest(r.layers, get); asked.Set && below.Set && asked.V > below.V {
		r.widens(toolTimeout, below.V)
		keys.Extra = slices.DeleteFunc(keys.Extra, func(x profile.Extra) bool { return x.Key == toolTimeout })
	}
}
