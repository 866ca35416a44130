package mcp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// OAuth is how a program gets a token for a server without a person: by the client
// credentials grant. The secret is sent to TokenURL and nowhere else; what the server
// names as the place where tokens are given is not asked.
type OAuth struct {
	TokenURL     string
	ClientID     string
	ClientSecret string
	Scopes       []string
}

// authorizer keeps a token for as long as it holds.
type authorizer struct {
	config clientcredentials.Config
	client *http.Client

	mu     sync.Mutex
	tokens oauth2.TokenSource
}

var _ auth.OAuthHandler = (*authorizer)(nil)

func newAuthorizer(o *OAuth) (*authorizer, error) {
	u, err := url.Parse(o.TokenURL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && !loopback(u):
		return nil, errors.New("its oauth has no token URL that begins with https://")
	case o.ClientID == "" || o.ClientSecret == "":
		return nil, errors.New("its oauth needs a client id and a client secret")
	}
	a := &authorizer{
		config: clientcredentials.Config{ClientID: o.ClientID, ClientSecret: o.ClientSecret, TokenURL: o.TokenURL, Scopes: o.Scopes},
		client: &http.Client{
			Timeout:       connectTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	a.renew()
	return a, nil
}

// loopback says whether an address is on this machine, where nobody listens in.
func loopback(u *url.URL) bool {
	h := u.Hostname()
	return u.Scheme == "http" && (h == "localhost" || h == "127.0.0.1" || h == "::1")
}

func (a *authorizer) renew() {
	a.mu.Lock()
	defer a.mu.Unlock()
	// A token is asked for when it is needed, whatever has become of the call that
	// was the first to need one.
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, a.client)
	a.tokens = oauth2.ReuseTokenSourceWithExpiry(nil, &told{a.config.TokenSource(ctx)}, 30*time.Second)
}

// TokenSource implements auth.OAuthHandler.
func (a *authorizer) TokenSource(context.Context) (oauth2.TokenSource, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.tokens, nil
}

// Authorize implements auth.OAuthHandler: the server has refused the token, so the
// next request gets a new one.
func (a *authorizer) Authorize(_ context.Context, _ *http.Request, r *http.Response) error {
	defer r.Body.Close()
	a.renew()
	return nil
}

// told says in plain words why there is no token. The library's error has all that the
// place answered.
type told struct{ oauth2.TokenSource }

func (t *told) Token() (*oauth2.Token, error) {
	token, err := t.TokenSource.Token()
	if refused := (*oauth2.RetrieveError)(nil); errors.As(err, &refused) && refused.Response != nil {
		return nil, &tokenError{strings.TrimSpace(refused.Response.Status + " " + line(refused.ErrorCode, maxTitle))}
	} else if err != nil {
		return nil, &tokenError{line(err.Error(), maxSaid)}
	}
	return token, nil
}

// tokenError says why there is no token.
type tokenError struct{ why string }

func (e *tokenError) Error() string { return "no token was given by its oauth token URL: " + e.why }
