package roster_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/identity"
)

// person is a user of the program that an App is part of.
type person struct{ ID, Company string }

// logins are who has logged in there, by the value of a cookie.
type logins map[string]person

func (l logins) User(r *http.Request) (person, error) {
	c, err := r.Cookie("login")
	if err != nil {
		return person{}, err
	}
	p, known := l[c.Value]
	if !known {
		return p, errors.New("the login has ended")
	}
	return p, nil
}

// Has the program say who its users are, instead of server.auth.
func ExampleOptions_identify() {
	defer example("Good morning!")()
	sessions := logins{"c0ffee": {ID: "ann", Company: "acme"}}

	app, err := roster.NewApp(roster.Options{
		ResolveProfile: roster.StaticResolver(Analytics, Support),
		Identify: func(r *http.Request) (identity.Caller, error) {
			user, err := sessions.User(r) // your own, with the cookie or token that you use
			if err != nil {
				return identity.Caller{}, err // 401; the reason is logged, and not sent
			}
			return identity.Caller{Tenant: user.Company, User: user.ID, Roles: identity.Runner | identity.Approver}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer app.Close(context.Background())

	server := httptest.NewServer(app)
	defer server.Close()
	for _, login := range []string{"c0ffee", "decaf"} {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, server.URL+"/sessions", http.NoBody)
		if err != nil {
			log.Fatal(err)
		}
		r.AddCookie(&http.Cookie{Name: "login", Value: login})
		resp, err := server.Client().Do(r)
		if err != nil {
			log.Fatal(err)
		}
		resp.Body.Close()
		fmt.Println(login, resp.Status)
	}
	// Output:
	// c0ffee 200 OK
	// decaf 401 Unauthorized
}
