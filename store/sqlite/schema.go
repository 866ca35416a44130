package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	// schema is the number of the newest migration, which sets user_version.
	schema = 13
	// application marks the file as ours ("Rost").
	application = 0x526f7374
)

// upToDate says whether the schema of the database is the newest. It reads two
// numbers; the migrations are looked at only if they must run.
func upToDate(c *conn, path string) (bool, error) {
	have, err := c.number("PRAGMA user_version")
	if err != nil {
		return false, &Error{path, err}
	}
	app, err := c.number("PRAGMA application_id")
	if err != nil {
		return false, &Error{path, err}
	}
	if app != application {
		tables, err := c.number("SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'goose%' AND name NOT LIKE 'sqlite%'")
		if err != nil {
			return false, &Error{path, err}
		}
		if tables > 0 || have > 0 {
			return false, &ForeignError{path}
		}
	}
	if have > schema {
		return false, &NewerError{path, int(have), schema}
	}
	return have == schema, nil
}

// migrateTries bounds how often a process tries again that loses the race for a
// new database.
const migrateTries = 5

// migrate brings the schema up to date. Of several processes that do so at the
// same time one wins each step; the others fail, look again and go on.
func migrate(ctx context.Context, c *conn, path, dsn string) error {
	var last error
	for range migrateTries {
		done, err := upToDate(c, path)
		if err != nil || done {
			return err
		}
		if last = runMigrations(ctx, dsn); last == nil {
			return nil
		}
	}
	return &Error{path, fmt.Errorf("bring the schema to version %d: %w", schema, last)}
}

func runMigrations(ctx context.Context, dsn string) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector(dsn))
	defer db.Close()
	db.SetMaxOpenConns(1)
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithGoMigrations(countLog()))
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

// connector opens the database for database/sql, which the migrations need.
type connector string

func (dsn connector) Connect(context.Context) (driver.Conn, error) {
	return new(sqlite.Driver).Open(string(dsn))
}

func (connector) Driver() driver.Driver { return new(sqlite.Driver) }
