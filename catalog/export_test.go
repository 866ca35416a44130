package catalog

import "time"

// SetNow sets the clock by which a change counts as lately.
func (c *Catalog) SetNow(now func() time.Time) { c.now = now }

// SetReached has f called at the points of a save.
func (c *Catalog) SetReached(f func(point string)) { c.reached = f }

// Points are those that a save of one file comes to.
func Points() []string {
	return []string{pointKept, pointOpened, pointWritten, pointReady, pointRenamed, pointDurable}
}

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
