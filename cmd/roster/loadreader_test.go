package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// loadReader follows a session, or all of them, and comes back with the last id
// whenever its connection ends.
type loadReader struct {
	load    *load
	session string // empty: all
	slow    bool

	seen atomic.Int64     // events
	last string           // the id that it comes back with
	seqs map[string]int64 // the newest of each session
}

func newLoadReader(l *load, session string) *loadReader {
	return &loadReader{load: l, session: session, seqs: map[string]int64{}}
}

func (r *loadReader) at() int64 { return r.seen.Load() }

func (r *loadReader) path() string {
	if r.session == "" {
		return "/events?after=0"
	}
	return "/sessions/" + r.session + "/events"
}

func (r *loadReader) run(ctx context.Context) {
	for ctx.Err() == nil {
		if r.slow {
			r.crawl(ctx)
		} else {
			r.read(ctx)
		}
		select {
		case <-time.After(20 * time.Millisecond): // before it connects again
		case <-ctx.Done():
		}
	}
}

// read follows until the connection ends.
func (r *loadReader) read(ctx context.Context) {
	req, err := http.NewRequestWithContext(ctx, "GET", r.load.url(r.path()), nil)
	if err != nil {
		panic(err)
	}
	if r.last != "" {
		req.Header.Set("Last-Event-ID", r.last)
	}
	resp, err := r.load.client.Do(req)
	if err != nil {
		return // the server is being restarted
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		r.load.t.Errorf("GET %s after %s: %s", r.path(), r.last, resp.Status)
		return
	}
	r.lines(bufio.NewReader(resp.Body))
}

// lines takes events up whole: what a server that dies has begun to write is not
// one.
func (r *loadReader) lines(in *bufio.Reader) {
	var id, data []byte
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		switch {
		case bytes.HasPrefix(line, []byte("id: ")):
			id = bytes.TrimSpace(line[4:])
		case bytes.HasPrefix(line, []byte("data: ")):
			data = line[6:]
		case len(line) == 1:
			if len(id) > 0 && len(data) > 0 {
				r.take(id, data)
			}
			id, data = nil, nil
		}
	}
}

// take holds that an event is the next one of its session.
func (r *loadReader) take(id, data []byte) {
	var seq int64
	var session string
	if _, err := fmt.Sscanf(string(data[:min(len(data), 120)]), `{"v":1,"seq":%d,"session":%q,`, &seq, &session); err != nil {
		r.load.t.Errorf("%v in %s", err, data)
	}
	if r.session != "" && (session != r.session || string(id) != strconv.FormatInt(seq, 10)) {
		r.load.t.Errorf("a reader of %s gets %s %s", r.session, id, data)
	}
	if seq != r.seqs[session]+1 {
		r.load.t.Errorf("a reader of %q gets event %d of %s after %d", r.session, seq, session, r.seqs[session])
	}
	r.seqs[session], r.last = seq, string(id)
	r.seen.Add(1)
}

// crawl reads a byte a second, of what little its kernel takes in for it.
func (r *loadReader) crawl(ctx context.Context) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", r.load.addr)
	if err != nil {
		return
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", r.path(), r.load.addr)
	var one [1]byte
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		if _, err := io.ReadFull(conn, one[:]); err != nil {
			return // it was too slow, or the server is being restarted
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
