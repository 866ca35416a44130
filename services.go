package roster

import (
	"slices"

	"github.com/rosterrun/roster/config"
)

// withServices adds the variables that services are shown.
func withServices(names []string, c *config.Config) []string {
	if len(c.Services) == 0 {
		return names
	}
	names = slices.Clone(names)
	for i := range c.Services {
		for _, v := range c.Services[i].Variables() {
			if !slices.Contains(names, v) {
				names = append(names, v)
			}
		}
	}
	return names
}
