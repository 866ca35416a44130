package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"

	"modernc.org/sqlite"
)

// conn is one connection with its prepared statements. It speaks to the driver
// itself: database/sql would cost more than most statements here do. It is used
// by one goroutine at a time.
type conn struct {
	driver.Conn
	stmts map[string]driver.Stmt
	args  []driver.NamedValue
}

func dial(dsn string) (*conn, error) {
	c, err := new(sqlite.Driver).Open(dsn)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, stmts: map[string]driver.Stmt{}}, nil
}

func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.Conn.Close())...)
}

func (c *conn) prepare(query string) (driver.Stmt, error) {
	s := c.stmts[query]
	if s == nil {
		var err error
		if s, err = c.Conn.Prepare(query); err != nil {
			return nil, err
		}
		c.stmts[query] = s
	}
	return s, nil
}

// bind makes the driver's form of args: int64, float64, bool, string, []byte or
// nil. It is good until the next call.
func (c *conn) bind(args []any) []driver.NamedValue {
	c.args = c.args[:0]
	for i, a := range args {
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return c.args
}

// exec runs a statement that gives no rows.
func (c *conn) exec(query string, args ...any) (driver.Result, error) {
	s, err := c.prepare(query)
	if err != nil {
		return nil, err
	}
	r, err := s.(driver.StmtExecContext).ExecContext(context.Background(), c.bind(args))
	clear(c.args)
	return r, err
}

// query calls each with the values of each row, until it returns false. The
// values may be kept, the slice may not.
func (c *conn) query(query string, each func([]driver.Value) bool, args ...any) error {
	s, err := c.prepare(query)
	if err != nil {
		return err
	}
	rows, err := s.(driver.StmtQueryContext).QueryContext(context.Background(), c.bind(args))
	clear(c.args)
	if err != nil {
		return err
	}
	row := make([]driver.Value, len(rows.Columns()))
	for err = rows.Next(row); err == nil; err = rows.Next(row) {
		if !each(row) {
			break
		}
	}
	if err == io.EOF {
		err = nil
	}
	return errors.Join(err, rows.Close())
}

// number returns the first value of the first row, or 0.
func (c *conn) number(query string, args ...any) (n int64, err error) {
	err = c.query(query, func(row []driver.Value) bool {
		n, _ = row[0].(int64)
		return false
	}, args...)
	return n, err
}
