-- +goose Up

CREATE TABLE streams (
    id          INTEGER PRIMARY KEY,
    tenant      TEXT    NOT NULL,
    stream      TEXT    NOT NULL,
    last        INTEGER NOT NULL, -- the number of the newest event
    epoch       INTEGER NOT NULL,
    worker      TEXT,             -- the owner; null: free
    runnable    INTEGER NOT NULL,
    waiting     INTEGER NOT NULL, -- since when it is runnable, in µs
    status      TEXT    NOT NULL,
    shared      INTEGER NOT NULL,
    profile     TEXT    NOT NULL,
    title       TEXT    NOT NULL,
    created     INTEGER NOT NULL, -- all times in µs since 1970, UTC
    updated     INTEGER NOT NULL,
    last_active INTEGER NOT NULL,
    turns       INTEGER NOT NULL,
    input       INTEGER NOT NULL, -- tokens
    output      INTEGER NOT NULL,
    cache_read  INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    cost        REAL    NOT NULL, -- US dollars
    estimated   INTEGER NOT NULL,
    open        INTEGER NOT NULL,
    suspended   INTEGER NOT NULL,
    failed      INTEGER NOT NULL,
    prompts     INTEGER NOT NULL,
    notes       INTEGER NOT NULL,
    held        INTEGER NOT NULL,
    UNIQUE (tenant, stream)
);

CREATE INDEX streams_runnable ON streams (waiting) WHERE runnable = 1;

CREATE TABLE events (
    stream  INTEGER NOT NULL REFERENCES streams (id),
    seq     INTEGER NOT NULL,
    v       INTEGER NOT NULL,
    session TEXT    NOT NULL,
    loop    TEXT    NOT NULL,
    turn    INTEGER NOT NULL,
    agent   TEXT    NOT NULL,
    depth   INTEGER NOT NULL,
    chain   TEXT    NOT NULL,
    time    INTEGER NOT NULL,
    type    TEXT    NOT NULL,
    data    BLOB    NOT NULL, -- JSON
    refs    TEXT,             -- digests of blobs, with spaces between; null: none
    PRIMARY KEY (stream, seq)
) WITHOUT ROWID;

-- A row here opens the log for retention, which alone may delete events.
CREATE TABLE retention (stream INTEGER PRIMARY KEY REFERENCES streams (id));

-- +goose StatementBegin
CREATE TRIGGER events_never_change BEFORE UPDATE ON events
BEGIN
    SELECT raise(ABORT, 'events are append-only');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER events_stay BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM retention WHERE stream = old.stream)
BEGIN
    SELECT raise(ABORT, 'events are append-only; only retention deletes them');
END;
-- +goose StatementEnd

CREATE TABLE posts (
    tenant TEXT    NOT NULL,
    idem   TEXT    NOT NULL,
    digest BLOB    NOT NULL, -- of the types and bodies of the events
    stream INTEGER NOT NULL REFERENCES streams (id),
    first  INTEGER NOT NULL,
    last   INTEGER NOT NULL,
    until  INTEGER NOT NULL,
    PRIMARY KEY (tenant, idem)
) WITHOUT ROWID;

CREATE INDEX posts_until ON posts (until);

CREATE TABLE blobs (
    id     INTEGER PRIMARY KEY,
    tenant TEXT    NOT NULL,
    digest TEXT    NOT NULL,
    put    INTEGER NOT NULL,
    needed INTEGER NOT NULL, -- by an event
    data   BLOB    NOT NULL,
    UNIQUE (tenant, digest)
);

CREATE INDEX blobs_unneeded ON blobs (put) WHERE needed = 0;

CREATE TABLE blob_refs (
    blob   INTEGER NOT NULL REFERENCES blobs (id),
    stream INTEGER NOT NULL REFERENCES streams (id),
    PRIMARY KEY (blob, stream)
) WITHOUT ROWID;

CREATE TABLE workers (
    id   TEXT PRIMARY KEY,
    beat INTEGER NOT NULL,
    dead INTEGER NOT NULL
) WITHOUT ROWID;

PRAGMA application_id = 0x526f7374;
PRAGMA user_version = 1;
