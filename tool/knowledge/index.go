package knowledge

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

const (
	maxFiles = 50_000  // of a folder
	maxTotal = 1 << 30 // bytes of them
	maxDepth = 32      // folders below it
	settled  = 2 * time.Second
)

// format is that of the index; one of another format is made anew.
const format = 1

const schema = `
CREATE TABLE file (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL, title TEXT NOT NULL, lines INTEGER NOT NULL);
CREATE TABLE section (id INTEGER PRIMARY KEY, file INTEGER NOT NULL, line INTEGER NOT NULL, lines INTEGER NOT NULL, heading TEXT NOT NULL);
CREATE INDEX section_file ON section (file);
CREATE VIRTUAL TABLE word USING fts5 (name, heading, body, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2');
`

// index is the words of the files of a folder, without their text: that is read
// from the files. It can be made anew at any time.
type index struct {
	db   *sql.DB
	root *os.Root
	dir  string // real path of the folder
	left left
}

// left is what a folder has and the index has not.
type left struct {
	links, unreadable, cut int
	full                   bool // a bound was reached
}

// openIndex opens that of a folder, in the directory where indexes are.
func openIndex(ctx context.Context, in, dir string) (*index, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(in, 0o700); err != nil {
		root.Close()
		return nil, err
	}
	name := sha256.Sum256([]byte(dir))
	file := filepath.Join(in, hex.EncodeToString(name[:12])+".db")
	x := &index{root: root, dir: dir}
	for range 2 {
		if x.db, err = openDB(ctx, file); err == nil {
			return x, nil
		}
		if ctx.Err() != nil {
			break
		}
		for _, end := range []string{"", "-wal", "-shm"} { // damaged, or of another format
			_ = os.Remove(file + end)
		}
	}
	root.Close()
	return nil, fmt.Errorf("the index of %s, %s: %w", dir, file, err)
}

var errFormat = errors.New("it has another format")

func openDB(ctx context.Context, file string) (*sql.DB, error) {
	options := url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(60000)", "journal_mode(WAL)", "synchronous(OFF)", "cache_size(-16000)"}}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: file}).EscapedPath()+"?"+options.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := prepare(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, os.Chmod(file, 0o600)
}

func prepare(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	switch version {
	case format:
		return nil
	case 0:
	default:
		return errFormat
	}
	if _, err := tx.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA user_version = %d;", format)); err != nil {
		return err
	}
	return tx.Commit()
}

func (x *index) close() {
	_ = x.db.Close()
	_ = x.root.Close()
}

// stamp tells a file from what it was. One that was changed a moment ago could be
// changed again without that being seen, so it is read again the next time.
func stamp(info fs.FileInfo, now time.Time) string {
	inode := uint64(0)
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = uint64(s.Ino)
	}
	text := fmt.Sprintf("%d %d %d", info.Size(), info.ModTime().UnixNano(), inode)
	if now.Sub(info.ModTime()) < settled {
		text += " ?"
	}
	return text
}

// known is a file as the index has it.
type known struct {
	id    int64
	stamp string
	seen  bool
}

// refresh brings the index up to date with the folder, all of it or nothing. hidden
// is a folder that is passed over, folded (permission.Fold).
func (x *index) refresh(ctx context.Context, hidden string) error {
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	u, err := x.update(ctx, tx)
	if err != nil {
		return err
	}
	defer u.close()
	if err := x.walk(ctx, hidden, u.file); err != nil {
		return err
	}
	for _, k := range u.files {
		if !k.seen {
			if err := u.forget(k.id); err != nil {
				return err
			}
			if _, err := u.run(u.dropFile, k.id); err != nil {
				return err
			}
		}
	}
	if !u.changed {
		return nil
	}
	return tx.Commit()
}

// update is one refreshing.
type update struct {
	*index
	ctx     context.Context
	now     time.Time
	files   map[string]*known
	changed bool

	addFile, dropFile, addSection, addWords, dropWords, dropSections *sql.Stmt
}

func (x *index) update(ctx context.Context, tx *sql.Tx) (*update, error) {
	u := &update{index: x, ctx: ctx, now: time.Now(), files: map[string]*known{}}
	rows, err := tx.QueryContext(ctx, "SELECT id, path, stamp FROM file")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var k known
		var name string
		if err := rows.Scan(&k.id, &name, &k.stamp); err != nil {
			return nil, err
		}
		u.files[name] = &k
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for text, to := range map[string]**sql.Stmt{
		"INSERT INTO file (path, stamp, title, lines) VALUES (?, ?, ?, ?)":                &u.addFile,
		"DELETE FROM file WHERE id = ?":                                                   &u.dropFile,
		"INSERT INTO section (file, line, lines, heading) VALUES (?, ?, ?, ?)":            &u.addSection,
		"INSERT INTO word (rowid, name, heading, body) VALUES (?, ?, ?, ?)":               &u.addWords,
		"DELETE FROM word WHERE rowid IN (SELECT id FROM section WHERE section.file = ?)": &u.dropWords,
		"DELETE FROM section WHERE file = ?":                                              &u.dropSections,
	} {
		if *to, err = tx.PrepareContext(ctx, text); err != nil {
			u.close()
			return nil, err
		}
	}
	return u, nil
}

func (u *update) close() {
	for _, s := range []*sql.Stmt{u.addFile, u.dropFile, u.addSection, u.addWords, u.dropWords, u.dropSections} {
		if s != nil {
			_ = s.Close()
		}
	}
}

func (u *update) run(s *sql.Stmt, args ...any) (int64, error) {
	u.changed = true
	r, err := s.ExecContext(u.ctx, args...)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// forget takes the words of a file out.
func (u *update) forget(id int64) error {
	_, err := u.run(u.dropWords, id)
	if err == nil {
		_, err = u.run(u.dropSections, id)
	}
	return err
}

// file takes in a file, if it is not as the index has it.
func (u *update) file(name string, info fs.FileInfo) error {
	if info.Size() > maxFile {
		u.left.cut++
	}
	is := stamp(info, u.now)
	k := u.files[name]
	if k != nil {
		if k.seen = true; k.stamp == is && !strings.HasSuffix(is, "?") {
			return nil
		}
	}
	d, err := u.read(name)
	if err != nil {
		u.left.unreadable++
		if k != nil {
			k.seen = false // what it was is not known to be so any more
		}
		return nil
	}
	if k != nil {
		if err := u.forget(k.id); err != nil {
			return err
		}
		if _, err := u.run(u.dropFile, k.id); err != nil {
			return err
		}
	}
	id, err := u.run(u.addFile, name, is, d.title, len(d.lines))
	if err != nil {
		return err
	}
	words := strings.NewReplacer("/", " ", "-", " ", "_", " ", ".", " ").Replace(name) + " " + d.title
	for _, s := range d.sections {
		at, err := u.run(u.addSection, id, s.line, strings.Count(s.body, "\n")+1, s.heading)
		if err != nil {
			return err
		}
		if _, err := u.run(u.addWords, at, words, s.heading, s.body); err != nil {
			return err
		}
	}
	return nil
}

// read parses a file of the folder, as much of it as is looked at.
func (x *index) read(name string) (document, error) {
	f, err := x.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return document{}, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return document{}, errors.Join(err, fs.ErrInvalid)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	return parse(name, data), err
}

// entry is a file as it is listed.
type entry struct {
	path, title string
	lines       int
}

func (x *index) list(ctx context.Context) (all []entry, err error) {
	rows, err := x.db.QueryContext(ctx, "SELECT path, title, lines FROM file ORDER BY path")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var e entry
		if err := rows.Scan(&e.path, &e.title, &e.lines); err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, rows.Err()
}

// hit is a section that fits.
type hit struct {
	path, heading string
	line, lines   int
	rank          float64 // the less, the better
}

// maxHits bounds what is looked at for one search: most of it may be denied.
const maxHits = 2000

// search gives the sections that fit, the best first.
func (x *index) search(ctx context.Context, match string) (hits []hit, err error) {
	rows, err := x.db.QueryContext(ctx, `SELECT file.path, section.heading, section.line, section.lines, bm25(word, 4.0, 3.0, 1.0) AS rank
		FROM word JOIN section ON section.id = word.rowid JOIN file ON file.id = section.file
		WHERE word MATCH ? ORDER BY rank, file.path, section.line LIMIT ?`, match, maxHits)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var h hit
		if err := rows.Scan(&h.path, &h.heading, &h.line, &h.lines, &h.rank); err != nil {
			return nil, err
		}
		hits = append(hits, h)
	}
	return hits, rows.Err()
}
