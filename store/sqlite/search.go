package sqlite

import (
	"context"
	"database/sql/driver"
	"strings"

	"github.com/rosterrun/roster/session"
)

// found is the condition of a list for what is looked for.
const found = ` AND id IN (SELECT stream FROM worded WHERE id IN (SELECT rowid FROM words WHERE words MATCH ?))`

// match is a search as the full-text index reads it.
func match(s session.Search) string {
	phrases := make([]string, len(s))
	for i, words := range s {
		phrases[i] = `"` + strings.Join(words, " ") + `"` // words are letters and digits
	}
	return strings.Join(phrases, " ")
}

// indexBytes and indexStreams bound what one commit takes into the index, so that runs need not
// wait long for theirs.
const (
	indexBytes   = 1 << 20
	indexStreams = 256
)

// index takes what was said since the last search into the index.
func (s *Store) index(ctx context.Context, tenant string) error {
	for more := true; more; {
		var behind []int64
		err := s.read(ctx, func(c *conn) error {
			return c.query(`SELECT id FROM streams WHERE tenant = ? AND searched < last LIMIT ?`, func(row []driver.Value) bool {
				behind = append(behind, integer(row[0]))
				return true
			}, tenant, int64(indexStreams))
		})
		if err != nil || len(behind) == 0 {
			return err
		}
		err = s.do(ctx, func(w *writer) (err error) {
			more, err = w.index(behind)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// index takes texts of streams in, and says whether there is more to do.
func (w *writer) index(streams []int64) (more bool, err error) {
	room := indexBytes
	for _, id := range streams {
		var texts []string
		seen := int64(0)
		err := w.conn.query(`SELECT e.seq, e.v, e.session, e.loop, e.turn, e.agent, e.depth, e.chain, e.time, e.type, e.data, e.refs
			FROM events e JOIN streams s ON s.id = e.stream WHERE e.stream = ? AND e.seq > s.searched ORDER BY e.seq`,
			func(row []driver.Value) bool {
				e := scanEvent(row)
				seen = e.Seq
				room -= len(e.Data)
				if words := session.Words(session.Searchable(&e)); len(words) > 0 {
					texts = append(texts, strings.Join(words, " "))
				}
				return room > 0
			}, id)
		if err != nil {
			return false, &fault{err}
		}
		for _, text := range texts {
			r, err := w.conn.exec(`INSERT INTO worded (stream) VALUES (?)`, id)
			if err != nil {
				return false, &fault{err}
			}
			row, err := r.LastInsertId()
			if err != nil {
				return false, &fault{err}
			}
			if err := w.exec(`INSERT INTO words (rowid, text) VALUES (?,?)`, row, text); err != nil {
				return false, err
			}
		}
		if seen > 0 {
			if err := w.exec(`UPDATE streams SET searched = ? WHERE id = ?`, seen, id); err != nil {
				return false, err
			}
		}
		if room <= 0 {
			return true, nil
		}
	}
	return len(streams) == indexStreams, nil
}
