-- +goose Up

-- The commits of each tenant, in their order. A row without a stream is the
-- newest of a tenant whose stream was pruned: its number is not given again.
CREATE TABLE feed (
    tenant TEXT    NOT NULL,
    pos    INTEGER NOT NULL,
    stream INTEGER,          -- null: pruned
    first  INTEGER NOT NULL, -- the numbers of the events
    last   INTEGER NOT NULL,
    PRIMARY KEY (tenant, pos)
) WITHOUT ROWID;

CREATE INDEX feed_stream ON feed (stream);

INSERT INTO feed (tenant, pos, stream, first, last)
    SELECT tenant, row_number() OVER (PARTITION BY tenant ORDER BY created, id), id, 1, last FROM streams WHERE last > 0;

PRAGMA user_version = 8;
