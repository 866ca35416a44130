package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rosterrun/roster/internal/reach"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/contract"
)

// Service answers searches.
type Service struct {
	Kind string // brave, searxng or tavily
	URL  string
	// Key gives the key, each time anew; nil: none is sent. KeyName is where it is
	// from, for people.
	Key     func() string
	KeyName string
}

const (
	searchTime    = 30 * time.Second
	maxAnswer     = 4 << 20 // bytes of a service's answer
	usualResults  = 10
	maxSnippet    = 1000 // characters
	maxErrorBytes = 500
)

// NewSearch returns websearch. Without a service it is withheld. The error is one
// of its settings, of the service's address or of the reach.
func NewSearch(settings json.RawMessage, s *Service, r Reach) (tool.Tool, error) {
	if err := contract.Read(SearchName, settings, nil); err != nil {
		return nil, err
	}
	def := tool.Define(SearchName, settings)
	if s == nil {
		return withheld{def}, nil
	}
	at, err := parseURL(s.URL)
	if err != nil {
		return nil, fmt.Errorf("search: %s: %w", s.URL, err)
	}
	c, err := Reach{Allow: []string{at.Host}, Proxy: r.Proxy}.client() // the user has named it
	if err != nil {
		return nil, err
	}
	return &searchTool{def, s, at, c}, nil
}

// withheld stands for websearch where nobody answers it.
type withheld struct{ def *model.ToolDef }

// NoSearch says why there is no search, and what to do.
const NoSearch = "no service answers searches: name one under search in roster.yaml"

func (w withheld) Def() *model.ToolDef { return w.def }
func (w withheld) Withheld() string    { return NoSearch }

func (w withheld) Prepare(context.Context, tool.Call) (tool.Plan, error) {
	return nil, fmt.Errorf("%s", NoSearch)
}

type searchTool struct {
	def     *model.ToolDef
	service *Service
	at      *url.URL
	client  *reach.Client
}

func (t *searchTool) Def() *model.ToolDef { return t.def }

// Recovery implements tool.Recoverer: a search does nothing.
func (t *searchTool) Recovery(tool.Call) tool.Recovery { return tool.Repeat }

func (t *searchTool) Prepare(_ context.Context, c tool.Call) (tool.Plan, error) {
	p := &searchPlan{tool: t, limit: usualResults}
	in := struct {
		Query *string `json:"query"`
		Limit *int    `json:"limit"`
	}{&p.query, &p.limit}
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return nil, fmt.Errorf("the input cannot be read: %w", err)
	}
	return p, nil
}

type searchPlan struct {
	tool  *searchTool
	query string
	limit int
}

func (p *searchPlan) Needs() []permission.Query {
	return []permission.Query{{Tool: SearchName, Subject: p.query}}
}

func (p *searchPlan) Close() error { return nil }

func (p *searchPlan) Run(ctx context.Context, _ func(string)) (tool.Result, error) {
	limited, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	list, err := p.search(limited)
	switch {
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		return tool.Result{}, fmt.Errorf("the search service did not answer within %v", searchTime)
	case err != nil:
		return tool.Result{}, err
	case len(list) == 0:
		return tool.Text("Nothing was found."), nil
	}
	var out strings.Builder
	for i, r := range list {
		fmt.Fprintf(&out, "%d. %s\n   %s\n", i+1, r.title, r.url)
		if r.snippet != "" {
			fmt.Fprintf(&out, "   %s\n", r.snippet)
		}
	}
	about := fmt.Sprintf("Results from %s: %d", p.tool.at.Host, len(list))
	return tool.Text(Fence(about, "results", out.String())), nil
}

func (p *searchPlan) search(ctx context.Context) ([]result, error) {
	s := p.tool.service
	key := ""
	if s.Key != nil {
		if key = strings.TrimSpace(s.Key()); key == "" {
			return nil, fmt.Errorf("the search service needs a key, and %s is not set; only the user can set it", s.KeyName)
		}
	}
	req, err := request(ctx, s.Kind, p.tool.at, key, p.query, p.limit)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "application/json")
	res, err := p.tool.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := reach.Read(res, maxAnswer)
	if err != nil {
		return nil, fmt.Errorf("the search service broke off: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the search service says %s%s", status(res), p.said(b, key))
	}
	list, err := results(s.Kind, b.Data, p.limit)
	if err != nil {
		return nil, fmt.Errorf("the answer of the search service cannot be read as that of %s: %w%s", s.Kind, err, hint(s.Kind))
	}
	return list, nil
}

// said is what a service says of an error, without the key.
func (p *searchPlan) said(b reach.Body, key string) string {
	text := strings.Join(strings.Fields(clean(string(b.Data[:min(len(b.Data), maxErrorBytes)]))), " ")
	if key != "" {
		text = strings.ReplaceAll(text, key, "[secret]")
	}
	if text == "" {
		return hint(p.tool.service.Kind)
	}
	return ": " + text + hint(p.tool.service.Kind)
}

// hint is what is most often wrong with a service.
func hint(kind string) string {
	if kind == "searxng" {
		return " (a SearXNG server answers programs only with json among search.formats in its settings.yml)"
	}
	return ""
}
