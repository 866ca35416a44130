package storetest

import (
	"context"
	"errors"

	"github.com/rosterrun/roster/session"
)

var tenantTests = []test{
	{"are apart in every call", func(f *fixture) {
		k, other := key("s1"), session.Key{Tenant: "other", Stream: "s1"}
		digest := f.put([]byte("x"))
		l := f.start(k, "w1")
		evs := f.work(1)
		evs[0].Refs = []string{digest}
		f.append(k, l, 1, evs...)

		f.equal("events of the other", 0, len(f.read(other, 0)))
		if _, err := f.Summary(f.ctx, other); !errors.Is(err, session.ErrNoStream) {
			f.Errorf("Summary: %v, want ErrNoStream", err)
		}
		f.equal("list of the other", []string{}, f.list("other", session.Query{}))
		if _, err := f.Blob(f.ctx, "other", digest); !errors.Is(err, session.ErrNoBlob) {
			f.Errorf("Blob: %v, want ErrNoBlob", err)
		}
		if _, err := f.Append(f.ctx, other, l, 6, []session.Event{f.note(0)}); !errors.Is(err, session.ErrNoStream) {
			f.Errorf("Append: %v, want ErrNoStream", err)
		}
		if _, err := f.Post(f.ctx, other, session.Post{Events: []session.Event{f.steer("x")}}); !errors.Is(err, session.ErrNoStream) {
			f.Errorf("Post: %v, want ErrNoStream", err)
		}
		if err := f.Release(f.ctx, other, l); !errors.Is(err, session.ErrNoStream) {
			f.Errorf("Release: %v, want ErrNoStream", err)
		}
		f.noWork("w2", &other)
		stolen := f.prompt("y")
		stolen.Refs = []string{digest}
		if _, err := f.Post(f.ctx, other, session.Post{Events: []session.Event{stolen}}); !errors.Is(err, session.ErrNoBlob) {
			f.Errorf("Post that names another tenant's blob: %v, want ErrNoBlob", err)
		}
	}},
	{"may have streams of the same name", func(f *fixture) {
		k, other := key("s1"), session.Key{Tenant: "other", Stream: "s1"}
		l, lo := f.start(k, "w1"), f.start(other, "w2")
		f.append(k, l, 1, f.work(1)...)
		f.fenced("the other's lease", k, lo)
		f.append(other, lo, 1, f.note(0))
		f.equal("last", []int64{6, 2}, []int64{f.last(k), f.last(other)})
		f.equal("list", []string{"s1"}, f.list("other", session.Query{}))
	}},
}

// calls are all methods, each in a form that works on a stream s1 with a
// prompt; each returns its error.
func (f *fixture) calls(l session.Lease, digest string) map[string]func(context.Context) error {
	k := key("s1")
	return map[string]func(context.Context) error{
		"Append": func(ctx context.Context) error {
			_, err := f.Append(ctx, k, l, 1, []session.Event{f.note(0)})
			return err
		},
		"Post": func(ctx context.Context) error {
			_, err := f.Post(ctx, k, session.Post{Events: []session.Event{f.steer("x")}})
			return err
		},
		"Post of a new stream": func(ctx context.Context) error {
			_, err := f.Post(ctx, key("s2"), session.Post{Events: []session.Event{f.prompt("x")}, Idem: "i"})
			return err
		},
		"Read": func(ctx context.Context) error {
			for _, err := range f.Read(ctx, k, 0) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"Summary": func(ctx context.Context) error {
			_, err := f.Summary(ctx, k)
			return err
		},
		"List": func(ctx context.Context) error {
			for _, err := range f.List(ctx, "acme", session.Query{}) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"Beat": func(ctx context.Context) error { return f.Beat(ctx, "w9") },
		"Claim": func(ctx context.Context) error {
			_, _, err := f.Claim(ctx, "w9", &k)
			return err
		},
		"Due": func(ctx context.Context) error {
			_, err := f.Due(ctx)
			return err
		},
		"Release": func(ctx context.Context) error { return f.Release(ctx, k, l) },
		"Workers": func(ctx context.Context) error {
			_, err := f.Workers(ctx)
			return err
		},
		"Bury": func(ctx context.Context) error { return f.Bury(ctx, "w1") },
		"PutBlob": func(ctx context.Context) error {
			_, err := f.PutBlob(ctx, "acme", []byte("new"))
			return err
		},
		"Blob": func(ctx context.Context) error {
			_, err := f.Blob(ctx, "acme", digest)
			return err
		},
	}
}

var callTests = []test{
	{"with a cancelled context do nothing", func(f *fixture) {
		l := f.start(key("s1"), "w1")
		calls := f.calls(l, f.put([]byte("x")))
		ctx, cancel := context.WithCancel(f.ctx)
		cancel()
		for name, call := range calls {
			if err := call(ctx); !errors.Is(err, context.Canceled) {
				f.Errorf("%s: err = %v, want context.Canceled", name, err)
			}
		}
		f.equal("last", int64(1), f.last(key("s1")))
		f.equal("list", []string{"s1"}, f.list("acme", session.Query{}))
		f.equal("workers", 1, len(f.workers()))
		if _, err := f.Blob(f.ctx, "acme", session.Digest([]byte("new"))); !errors.Is(err, session.ErrNoBlob) {
			f.Errorf("Blob: %v, want ErrNoBlob", err)
		}
		f.append(key("s1"), l, 1, f.note(0))
	}},
	{"after Close fail", func(f *fixture) {
		l := f.start(key("s1"), "w1")
		calls := f.calls(l, f.put([]byte("x")))
		if err := f.Close(); err != nil {
			f.Fatal(err)
		}
		for name, call := range calls {
			if err := call(f.ctx); err == nil {
				f.Errorf("%s on a closed store succeeded", name)
			}
		}
		if err := f.Close(); err != nil {
			f.Errorf("a second Close: %v", err)
		}
	}},
	{"of Read and List end when the context is cancelled between events", func(f *fixture) {
		k := key("s1")
		l := f.start(k, "w1")
		f.append(k, l, 1, f.work(1)...)
		f.start(key("s2"), "w1")
		ctx, cancel := context.WithCancel(f.ctx)
		defer cancel()
		n := 0
		var last error
		for _, err := range f.Read(ctx, k, 0) {
			last = err
			n++
			cancel()
		}
		if !errors.Is(last, context.Canceled) || n != 2 {
			f.Errorf("Read yielded %d times, at last %v; want one event and context.Canceled", n, last)
		}
	}},
}
