package catalog

import "time"

// SetNow sets the clock by which a change counts as lately.
func (c *Catalog) SetNow(now func() time.Time) { c.now = now }

// Telling says whether the next look is at stamps only.
func (c *Catalog) Telling() bool {
	for i, v := range c.visits {
		if c.sources[i].Path != "" && !v.telling {
			return false
		}
	}
	return true
}

// SetSearched bounds the folders in which directory profiles are searched for.
func (c *Catalog) SetSearched(most int) {
	for i := range c.sources {
		c.sources[i].most = most
	}
}
