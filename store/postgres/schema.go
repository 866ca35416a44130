package postgres

import (
	"context"
	"database/sql"
	"embed"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the schema up to date. Of several processes that do so at the
// same time one does, and the others wait.
func (s *Store) migrate(ctx context.Context, cfg *pgx.ConnConfig, schema string) error {
	db := stdlib.OpenDB(*cfg)
	defer db.Close()
	if err := makeSchema(ctx, db, schema); err != nil {
		return s.fail(err)
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithSessionLocker(locker), goose.WithGoMigrations(countLog()))
	if err != nil {
		return err
	}
	have, known, err := p.GetVersions(ctx)
	if err != nil {
		return s.fail(err)
	}
	if have > known {
		return &NewerError{s.name, have, known}
	}
	_, err = p.Up(ctx)
	return s.fail(err)
}

// makeSchemaLock keeps two processes from making a schema at the same time,
// which IF NOT EXISTS does not.
const makeSchemaLock = 0x526f7374

func makeSchema(ctx context.Context, db *sql.DB, schema string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, makeSchemaLock); err != nil {
		return err
	}
	var there bool
	if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)`, schema).Scan(&there); err != nil || there {
		return err
	}
	if _, err := tx.ExecContext(ctx, `CREATE SCHEMA `+pgx.Identifier{schema}.Sanitize()); err != nil {
		return err
	}
	return tx.Commit()
}
