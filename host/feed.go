package host

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/rosterrun/roster/dispatch"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/session"
)

// feed shows the stored events of all sessions of the caller's tenant, in the
// order in which they were committed: what comes from now on, or what came after
// a position. It says at once where it begins, so that a client who comes back
// misses nothing, also if nothing happened in between.
func (h *Host) feed(w *response, r *http.Request) error {
	tenant := identity.From(r.Context()).Tenant
	types, err := feedTypes(r.URL.Query()["type"])
	if err != nil {
		return err
	}
	store, err := h.deps.Backend(r.Context())
	if err != nil {
		return err
	}
	end, err := store.FeedEnd(r.Context(), tenant)
	if err != nil {
		return err
	}
	at, err := feedStart(r, tenant, end)
	if err != nil {
		return err
	}
	ctx, stop := whichever(r.Context(), h.streams)
	defer stop()
	s, err := h.newSSE(w)
	if err != nil {
		return nil // the client left
	}
	defer s.Close()
	if s.send(1, func(dst []byte, _ int) []byte { return appendMark(dst, tenant, at) }) != nil {
		return nil
	}
	h.showFeed(ctx, s, tenant, types, at)
	return nil
}

// showFeed writes events until the client leaves.
func (h *Host) showFeed(ctx context.Context, s *sse, tenant string, types []string, at session.Position) {
	for batch, err := range h.deps.FollowFeed(ctx, tenant, at) {
		var behind *dispatch.FeedBehind
		switch {
		case errors.As(err, &behind):
			h.stats.fellBehind.Add(1)
			s.end(appendBehind(nil, `"`+positionText(tenant, behind.From)+`"`))
			return
		case err != nil:
			s.fail(err)
			return
		}
		if s.showFed(tenant, types, batch) != nil {
			return // the client left
		}
	}
}

// showFed writes a batch of events of some types; none: of all. If there is none
// of them, the next ping tells the client how far he has come.
func (s *sse) showFed(tenant string, types []string, batch []session.Fed) error {
	shows := func(f session.Fed) bool { return len(types) == 0 || slices.Contains(types, f.Event.Type) }
	if !slices.ContainsFunc(batch, shows) {
		s.setPing(append(appendMark(nil, tenant, batch[len(batch)-1].At), pingText...))
		return nil
	}
	s.setPing([]byte(pingText))
	return s.send(len(batch), func(dst []byte, i int) []byte {
		f := &batch[i]
		if !shows(*f) {
			return dst
		}
		dst = append(append(append(dst, "id: "...), positionText(tenant, f.At)...), '\n')
		return appendStored(appendHead(dst, f.Event.Type, 0), &f.Event)
	})
}

// appendMark tells the client a position without an event: what it sends as
// Last-Event-ID when it comes back.
func appendMark(dst []byte, tenant string, at session.Position) []byte {
	return append(append(append(dst, "id: "...), positionText(tenant, at)...), "\n\n"...)
}

// feedTypes reads the types of events that a client wants to see.
func feedTypes(values []string) ([]string, error) {
	if len(values) == 0 {
		return nil, nil
	}
	types := strings.Split(strings.Join(values, ","), ",")
	for _, typ := range types {
		if !session.Known(typ) {
			return nil, invalid("type", quote(typ)+" is no type of stored events; name some as in type=loop.start,loop.end")
		}
	}
	return types, nil
}

// feedStart is where a client wants to begin.
func feedStart(r *http.Request, tenant string, end session.Position) (session.Position, error) {
	name, text := "Last-Event-ID", r.Header.Get("Last-Event-ID") // of a client that comes back to its first address
	if text == "" {
		name, text = "after", r.URL.Query().Get("after")
	}
	switch text {
	case "":
		return end, nil
	case "0":
		return session.Position{}, nil
	}
	at, ok := parsePosition(tenant, text)
	if !ok {
		return at, invalid(name, quote(text)+" is no position in this feed: take the id of one of its events, or 0 for its beginning")
	}
	if at.Compare(end) > 0 {
		return at, invalid(name, "is a position that this feed has not reached: it comes from another store, or from before this one was put back")
	}
	return at, nil
}

// A position is shown as its two numbers and a sum over them and the tenant, so
// that one of another feed, or one that somebody made up, is not taken for it.
const sumBytes = 6

func positionText(tenant string, at session.Position) string {
	var buf [2*binary.MaxVarintLen64 + sumBytes]byte
	b := binary.AppendUvarint(buf[:0], uint64(at.Commit))
	b = binary.AppendUvarint(b, uint64(at.Seq))
	return base64.RawURLEncoding.EncodeToString(append(b, positionSum(tenant, b)...))
}

func parsePosition(tenant, text string) (at session.Position, ok bool) {
	const most = 2*binary.MaxVarintLen64 + sumBytes
	if len(text) > 2*most {
		return at, false
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) < 2+sumBytes {
		return at, false
	}
	b, sum := b[:len(b)-sumBytes], b[len(b)-sumBytes:]
	commit, n := binary.Uvarint(b)
	if n <= 0 {
		return at, false
	}
	seq, m := binary.Uvarint(b[n:])
	if m <= 0 || n+m != len(b) || int64(commit) < 0 || int64(seq) < 0 || string(sum) != string(positionSum(tenant, b)) {
		return at, false
	}
	return session.Position{Commit: int64(commit), Seq: int64(seq)}, true
}

func positionSum(tenant string, numbers []byte) []byte {
	sum := sha256.Sum256(append([]byte("roster feed "+tenant+"\x00"), numbers...))
	return sum[:sumBytes]
}
