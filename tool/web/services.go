package web

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// request is a search in the form of a service.
func request(ctx context.Context, kind string, at *url.URL, key, query string, limit int) (*http.Request, error) {
	to := *at
	q := url.Values{}
	switch kind {
	case "tavily":
		return tavily(ctx, to.String(), key, query, limit)
	case "searxng":
		if to.Path = strings.TrimSuffix(to.Path, "/"); !strings.HasSuffix(to.Path, "/search") {
			to.Path += "/search"
		}
		q.Set("format", "json")
	default: // brave
		q.Set("count", strconv.Itoa(limit))
	}
	q.Set("q", query)
	to.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
	switch {
	case err != nil || key == "":
	case kind == "brave":
		req.Header.Set("X-Subscription-Token", key)
	default:
		req.Header.Set("Authorization", "Bearer "+key)
	}
	return req, err
}

func tavily(ctx context.Context, to, key, query string, limit int) (*http.Request, error) {
	body, err := json.Marshal(map[string]any{"query": query, "max_results": limit})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	return req, nil
}

// result is one hit, in plain text on one line each.
type result struct{ title, url, snippet string }

// found is a hit as services write it.
type found struct {
	Title       string `json:"title"`
	URL         string `json:"url"`
	Content     string `json:"content"`
	Description string `json:"description"`
}

// answer is what services answer: searxng and tavily results, brave web.results.
// One of them has to be there.
type answer struct {
	Results *[]found `json:"results"`
	Web     *struct {
		Results []found `json:"results"`
	} `json:"web"`
	Query json.RawMessage `json:"query"`
}

// results reads an answer. What has no address that can be fetched is left out.
func results(kind string, data []byte, limit int) ([]result, error) {
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, err
	}
	var hits []found
	switch {
	case kind == "brave" && a.Web != nil:
		hits = a.Web.Results
	case kind == "brave" && a.Query != nil: // it has nothing from the web
	case kind != "brave" && a.Results != nil:
		hits = *a.Results
	default:
		return nil, errNoResults
	}
	var list []result
	for _, h := range hits {
		u, err := parseURL(h.URL)
		if err != nil {
			continue
		}
		snippet := h.Content
		if snippet == "" {
			snippet = h.Description
		}
		if list = append(list, result{line(h.Title), u.String(), line(snippet)}); len(list) == limit {
			break
		}
	}
	return list, nil
}

// line makes one line of plain text of a piece of HTML.
func line(source string) string {
	text := words(source)
	if n := utf8.RuneCountInString(text); n <= maxSnippet {
		return text
	}
	end := 0
	for range maxSnippet {
		_, n := utf8.DecodeRuneInString(text[end:])
		end += n
	}
	return text[:end] + " …"
}
