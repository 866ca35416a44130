package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// Report is what a provider's server said that it has. It is the catalog's last
// layer: it adds models, and gives figures that nobody has declared.
type Report struct {
	Provider string     `json:"provider"`
	BaseURL  string     `json:"base_url"` // that was asked; of another one it says nothing
	At       time.Time  `json:"at"`
	Models   []Reported `json:"models"`
}

// Reported is one model of a report. What the server did not say is 0.
type Reported struct {
	ID            string `json:"id"`
	ContextWindow int    `json:"context_window,omitempty"`
	MaxOutput     int    `json:"max_output,omitempty"`
}

// Bounds of a report.
const (
	maxReported   = 5000
	maxReportedID = 256
	maxTokens     = 100_000_000
)

// ReportPath is where the server of a provider says which models it has: an
// address of Ollama's own, else that of the OpenAI interface. The path goes with
// the base.
func ReportPath(provider, baseURL string) (base, path string) {
	if provider == ollama {
		return strings.TrimSuffix(baseURL, "/v1"), "api/tags"
	}
	return baseURL, "models"
}

// ParseReport reads what a server answers. Models whose names no reference could
// hold are left out, and counted.
func ParseReport(data []byte) (models []Reported, without int, err error) {
	type listed struct {
		ID, Name         string
		MaxModelLen      int `json:"max_model_len"` // vLLM
		ContextLength    int `json:"context_length"`
		ContextWindow    int `json:"context_window"`
		MaxContextLength int `json:"max_context_length"`
		MaxCompletion    int `json:"max_completion_tokens"`
		Top              struct {
			MaxCompletion int `json:"max_completion_tokens"`
		} `json:"top_provider"`
	}
	var answer struct {
		Data   *[]listed `json:"data"`   // OpenAI and those like it
		Models *[]listed `json:"models"` // Ollama
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, 0, fmt.Errorf("the answer is no list of models: %w", err)
	}
	list := answer.Data
	if list == nil {
		list = answer.Models
	}
	switch {
	case list == nil:
		return nil, 0, fmt.Errorf("the answer is no list of models: it has neither data nor models")
	case len(*list) > maxReported:
		return nil, 0, fmt.Errorf("the answer lists %d models; at most %d are taken", len(*list), maxReported)
	}
	seen := make(map[string]bool, len(*list))
	for _, l := range *list {
		m := Reported{ID: l.ID}
		if answer.Data == nil {
			m.ID = l.Name
		}
		m.ContextWindow = first(l.MaxModelLen, l.ContextLength, l.ContextWindow, l.MaxContextLength)
		m.MaxOutput = first(l.MaxCompletion, l.Top.MaxCompletion)
		if seen[m.ID] {
			continue
		}
		if seen[m.ID] = true; !m.valid() {
			without++
			continue
		}
		models = append(models, m)
	}
	return models, without, nil
}

// first gives the first number that can be one of tokens.
func first(numbers ...int) int {
	for _, n := range numbers {
		if n > 0 && n <= maxTokens {
			return n
		}
	}
	return 0
}

// valid says whether a reference could name the model.
func (m Reported) valid() bool {
	return m.ID != "" && len(m.ID) <= maxReportedID && utf8.ValidString(m.ID) &&
		!strings.ContainsFunc(m.ID, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) })
}

// Valid says whether a report that was kept could have been made.
func (r *Report) Valid() bool {
	return len(r.Models) <= maxReported && !slices.ContainsFunc(r.Models, func(m Reported) bool {
		return !m.valid() || m.ContextWindow < 0 || m.ContextWindow > maxTokens || m.MaxOutput < 0 || m.MaxOutput > maxTokens
	})
}

// report takes in what a server said, if the provider is still the one that was
// asked.
func (t *table) report(r *Report) {
	p := t.providers[r.Provider]
	if p == nil || p.BaseURL.V != r.BaseURL || len(p.Withheld) > 0 || !r.Valid() {
		return
	}
	at := source.Origin{Layer: source.Server, File: r.BaseURL}
	for _, m := range r.Models {
		e := p.models[m.ID]
		if e == nil {
			e = &entry{Model: Model{ID: m.ID, At: at}, reported: r.At}
			p.models[m.ID] = e
			p.ids = append(p.ids, m.ID)
		}
		tell(&e.ContextWindow, m.ContextWindow, at)
		tell(&e.MaxOutput, m.MaxOutput, at)
	}
}

// tell sets a figure that a server gave, unless a person has declared it.
func tell(v *profile.Value[int], n int, at source.Origin) {
	if n > 0 && (!v.Set || v.At.Layer == source.Builtin) {
		*v = profile.Value[int]{V: n, Set: true, At: at}
	}
}
