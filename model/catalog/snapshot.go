package catalog

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

//go:embed models.json
var modelsJSON []byte

// Source says where the figures of one provider are from.
type Source struct {
	Provider string `json:"provider"`
	URL      string `json:"url"`
	Also     string `json:"also,omitempty"`
	AsOf     string `json:"as_of"` // a date, YYYY-MM-DD
}

type snapshot struct {
	AsOf      string             `json:"as_of"`
	Sources   []Source           `json:"sources"`
	Providers []snapshotProvider `json:"providers"`
	Aliases   map[string]string  `json:"aliases"`
}

type snapshotProvider struct {
	Name     string          `json:"name"`
	API      string          `json:"api"`
	BaseURL  string          `json:"base_url"`
	KeyEnv   string          `json:"key_env"`
	Default  string          `json:"default"`
	AnyModel bool            `json:"any_model"`
	Models   []snapshotModel `json:"models"`
}

type snapshotModel struct {
	ID            string  `json:"id"`
	ContextWindow int     `json:"context_window"`
	MaxOutput     int     `json:"max_output"`
	Input         float64 `json:"input"`
	Output        float64 `json:"output"`
	CacheRead     float64 `json:"cache_read"`
	CacheWrite    float64 `json:"cache_write"`
	Sampling      *bool   `json:"sampling"` // false: the model refuses temperature and top_p
	Thinking      string  `json:"thinking"` // the levels of thinking that it has, with blanks between
	Note          string  `json:"note"`
}

// snapshotOrigin marks what the snapshot says.
func snapshotOrigin() source.Origin { return source.Origin{Layer: source.Builtin} }

func decodeSnapshot() snapshot {
	var s snapshot
	if err := json.Unmarshal(modelsJSON, &s); err != nil {
		panic(fmt.Sprintf("model/catalog: the embedded models.json does not decode: %v", err)) // a test decodes it
	}
	return s
}

func readSnapshot() *table {
	s := decodeSnapshot()
	t := &table{providers: make(map[string]*provider, len(s.Providers)), aliases: make(map[string]Alias, len(s.Aliases))}
	for _, sp := range s.Providers {
		p := &provider{
			Provider: Provider{
				Name: sp.Name, At: snapshotOrigin(),
				API: written(sp.API), BaseURL: written(sp.BaseURL), KeyEnv: written(sp.KeyEnv),
			},
			anyModel: sp.AnyModel, defaultModel: sp.Default, builtIn: true,
			models: make(map[string]*entry, len(sp.Models)),
		}
		for _, m := range sp.Models {
			p.models[m.ID] = m.entry()
			p.ids = append(p.ids, m.ID)
		}
		t.providers[sp.Name] = p
		t.names = append(t.names, sp.Name)
	}
	for name, target := range s.Aliases {
		t.aliases[name] = Alias{Name: name, Target: target, At: snapshotOrigin()}
	}
	return t
}

func (m snapshotModel) entry() *entry {
	at := snapshotOrigin()
	return &entry{
		Model: Model{
			ID: m.ID, At: at,
			ContextWindow: profile.Value[int]{V: m.ContextWindow, Set: true, At: at},
			MaxOutput:     profile.Value[int]{V: m.MaxOutput, Set: true, At: at},
			Input:         profile.Value[float64]{V: m.Input, Set: true, At: at},
			Output:        profile.Value[float64]{V: m.Output, Set: true, At: at},
			CacheRead:     profile.Value[float64]{V: m.CacheRead, Set: true, At: at},
			CacheWrite:    profile.Value[float64]{V: m.CacheWrite, Set: true, At: at},
			Thinking:      profile.Value[[]string]{V: strings.Fields(m.Thinking), Set: true, At: at},
		},
		noSampling: m.Sampling != nil && !*m.Sampling,
		note:       m.Note,
	}
}

func written(s string) profile.Value[string] {
	return profile.Value[string]{V: s, Set: s != "", At: snapshotOrigin()}
}

// Sources says where the snapshot's figures come from, and as of when.
func (c *Catalog) Sources() []Source { return decodeSnapshot().Sources }
