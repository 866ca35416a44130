package openapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/rosterrun/roster/internal/reach"
	"github.com/rosterrun/roster/service"
)

// Fetch gets the document of a service from its address, if it is another than that of
// the etag; nil: it is the same. Nothing that the service is shown goes along, and no
// redirect is followed to a host that the user did not name.
func Fetch(ctx context.Context, e *service.Entry, etag, proxy string) (data []byte, newer string, err error) {
	b, err := newBounds(e)
	if err != nil {
		return nil, "", err
	}
	client, err := b.client(proxy, nil)
	if err != nil {
		return nil, "", err
	}
	u := b.spec
	const maxRedirects = 5
	for range maxRedirects {
		req, err := newRequest(ctx, http.MethodGet, u, http.Header{"Accept": {"application/json, application/yaml, text/yaml;q=0.9, */*;q=0.5"}}, nil)
		if err != nil {
			return nil, "", err
		}
		if etag != "" {
			req.Header.Set("If-None-Match", etag)
		}
		res, err := client.Do(req)
		if err != nil {
			return nil, "", err
		}
		to := leads(u, res)
		if to == nil {
			return document(res, etag)
		}
		res.Body.Close()
		if !b.holds(to) || u.Scheme == "https" && to.Scheme == "http" {
			return nil, "", fmt.Errorf("%s leads to %s, which nobody named for the service %s", e.Does(), to.Host, e.Name)
		}
		u = to
	}
	return nil, "", errors.New("it leads on and on")
}

func document(res *http.Response, etag string) ([]byte, string, error) {
	defer res.Body.Close()
	if res.StatusCode == http.StatusNotModified && etag != "" {
		return nil, etag, nil
	}
	if res.StatusCode != http.StatusOK {
		return nil, "", fmt.Errorf("the server says %s", status(res))
	}
	b, err := reach.Read(res, defaultBytes)
	if err != nil {
		return nil, "", plainError(err)
	}
	if b.More {
		return nil, "", fmt.Errorf("it has more than %d bytes", defaultBytes)
	}
	return b.Data, res.Header.Get("ETag"), nil
}
