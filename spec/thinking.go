package spec

import "slices"

// Levels lists how much a model may think, from not at all to the most.
func Levels() []string { return []string{"off", "minimal", "low", "medium", "high"} }

// Off and the level where nobody names one and the model can think.
const (
	Off             = "off"
	DefaultThinking = "medium"
)

// Level is how much the model thinks where want is asked for, or nothing (""):
// the nearest of its levels, the lower of two. It is "" where the request says
// nothing about thinking. samples says that temperature or top-p is set, which
// some models do not take while they think: unless somebody asks for it, these
// do not.
func (m Model) Level(want string, samples bool) string {
	switch {
	case m.Thinking == nil: // nobody knows
		return want
	case len(m.Thinking) == 0:
		return ""
	case want == "" && samples && m.ThinksAlone:
		want = Off
	case want == "":
		want = DefaultThinking
	}
	return nearest(m.Thinking, want)
}

func nearest(levels []string, want string) string {
	order := Levels()
	at := slices.Index(order, want)
	best, far := "", len(order)
	for i, level := range order {
		d := at - i
		if d < 0 {
			d = -d
		}
		if d < far && slices.Contains(levels, level) {
			best, far = level, d
		}
	}
	return best
}

// Samples says whether the model takes temperature and top-p at a level of
// thinking.
func (m Model) Samples(level string) bool {
	return !m.NoSampling && !(m.ThinksAlone && level != "" && level != Off)
}
