-- +goose Up

-- What was used, by day and account. The next step fills it with what stands in
-- the log; from then on each commit counts its own.
CREATE TABLE usage (
    tenant      TEXT    NOT NULL,
    day         INTEGER NOT NULL, -- since 1970, UTC
    profile     TEXT    NOT NULL,
    model       TEXT    NOT NULL,
    who         TEXT    NOT NULL, -- the user; empty: none was named
    key_id      TEXT    NOT NULL,
    loops       INTEGER NOT NULL,
    turns       INTEGER NOT NULL,
    errors      INTEGER NOT NULL,
    input       INTEGER NOT NULL, -- tokens
    output      INTEGER NOT NULL,
    cache_read  INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    cost        REAL    NOT NULL, -- US dollars
    estimated   INTEGER NOT NULL,
    PRIMARY KEY (tenant, day, profile, model, who, key_id)
) WITHOUT ROWID;

-- What the use of the open loops is counted for, as JSON; empty: there are none.
ALTER TABLE streams ADD COLUMN payers TEXT NOT NULL DEFAULT '';
