package spec

// Context says what of a long conversation is sent. The zero value sends all of
// it.
type Context struct {
	// Window is how many tokens a request may have; 0: as many as the model takes.
	Window int `json:"window,omitempty"`
	// Reserve are tokens of it that are kept free for the answer; nil: what an
	// answer has at most, but no more than a quarter of the window.
	Reserve *int `json:"reserve,omitempty"`
	// CompactAt is the share of the window at which the conversation is made
	// smaller.
	CompactAt float64 `json:"compact_at,omitempty"`
	// KeepFirst and KeepRecent are how many turns stay at its start and its end.
	KeepFirst  int `json:"keep_first,omitempty"`
	KeepRecent int `json:"keep_recent,omitempty"`
	// Strategy is what becomes of the others: summary, prune or none.
	Strategy string `json:"strategy,omitempty"`
	// MaxResult is how many tokens of a tool's result are sent; 0: all.
	MaxResult int `json:"max_result,omitempty"`
	// Summariser is the profile that writes summaries, resolved; nil: the profile
	// itself does.
	Summariser *Spec `json:"summariser,omitempty"`
	// Providers add to each request, by name.
	Providers []string `json:"providers,omitempty"`
}

// What becomes of the turns that do not stay.
const (
	ContextSummary = "summary"
	ContextPrune   = "prune"
	ContextNone    = "none"
)

// DefaultWindow is how many tokens a model is taken to have room for whose window
// nobody knows.
const DefaultWindow = 200_000
