package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rosterrun/roster/session"
)

// found is the condition of a list for what is looked for. match gives its
// parameter: words are letters and digits, which need no quotes.
const found = ` AND id IN (SELECT stream FROM words WHERE words @@ $%d::tsquery)`

func match(s session.Search) string {
	phrases := make([]string, len(s))
	for i, words := range s {
		phrases[i] = strings.Join(words, " <-> ")
	}
	return strings.Join(phrases, " & ")
}

// Bounds of one commit to the index, and of the words in one row of it, so that
// their places can be told.
const (
	indexEvents = 1000
	indexWords  = 8000
)

// index takes what was said since the last search into the index.
func (s *Store) index(ctx context.Context, tenant string) error {
	for more := true; more; {
		err := s.do(ctx, func(t *tx) (err error) {
			more, err = t.index(tenant)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// index takes texts of one stream in, and says whether there was one.
func (t *tx) index(tenant string) (more bool, err error) {
	var id, searched int64
	err = t.QueryRow(t.ctx, `SELECT id, searched FROM streams WHERE tenant = $1 AND searched < last ORDER BY id LIMIT 1 FOR NO KEY UPDATE`, tenant).Scan(&id, &searched)
	if err == pgx.ErrNoRows {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	rows, err := t.Query(t.ctx, `SELECT seq, v, session, loop, turn, agent, depth, chain, time, type, data, refs
		FROM events WHERE stream = $1 AND seq > $2 ORDER BY seq LIMIT $3`, id, searched, indexEvents)
	if err != nil {
		return false, err
	}
	evs, err := pgx.CollectRows(rows, scanEvent)
	if err != nil {
		return false, err
	}
	b := &pgx.Batch{}
	for i := range evs {
		searched = evs[i].Seq
		words := session.Words(session.Searchable(&evs[i]))
		for part := 0; len(words) > 0; part++ {
			n := min(len(words), indexWords)
			b.Queue(`INSERT INTO words (stream, seq, part, words) VALUES ($1,$2,$3,to_tsvector('simple', $4))`,
				id, searched, part, strings.Join(words[:n], " "))
			words = words[n:]
		}
	}
	b.Queue(`UPDATE streams SET searched = $2 WHERE id = $1`, id, searched)
	return true, t.SendBatch(t.ctx, b).Close()
}
