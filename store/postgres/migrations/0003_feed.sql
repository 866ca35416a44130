-- +goose Up

-- The commits of each tenant. A number is given in the order in which a
-- transaction began to write, and transactions end in another one: so it is not a
-- place in the feed. Who reads gives places (pos) to what is committed and has
-- none, under a lock. A row without a stream is the newest of a tenant whose
-- stream was pruned: its place is not given again.
CREATE TABLE feed (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    pos    bigint,           -- null: none yet
    stream bigint,           -- null: pruned
    first  bigint NOT NULL, -- the numbers of the events
    last   bigint NOT NULL
);

INSERT INTO feed (tenant, pos, stream, first, last)
    SELECT tenant, row_number() OVER (PARTITION BY tenant ORDER BY created, id), id, 1, last FROM streams WHERE last > 0;

CREATE UNIQUE INDEX feed_pos ON feed (tenant, pos) WHERE pos IS NOT NULL;
CREATE INDEX feed_new ON feed (tenant, id) WHERE pos IS NULL;
CREATE INDEX feed_stream ON feed (stream);
