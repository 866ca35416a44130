-- +goose Up

-- What was used, by day and account. The next step fills it with what stands in
-- the log; from then on each commit counts its own. Rows are spread over shards, so
-- that sessions of one account do not wait for each other's commits.
CREATE TABLE usage (
    tenant      text COLLATE "C" NOT NULL,
    day         integer          NOT NULL, -- since 1970, UTC
    shard       smallint         NOT NULL,
    profile     text COLLATE "C" NOT NULL,
    model       text COLLATE "C" NOT NULL,
    who         text COLLATE "C" NOT NULL, -- the user; empty: none was named
    key_id      text COLLATE "C" NOT NULL,
    loops       bigint           NOT NULL,
    turns       bigint           NOT NULL,
    errors      bigint           NOT NULL,
    input       bigint           NOT NULL, -- tokens
    output      bigint           NOT NULL,
    cache_read  bigint           NOT NULL,
    cache_write bigint           NOT NULL,
    cost        double precision NOT NULL, -- US dollars
    estimated   bigint           NOT NULL,
    PRIMARY KEY (tenant, day, profile, model, who, key_id, shard)
);

-- What the use of the open loops is counted for, as JSON; empty: there are none.
ALTER TABLE streams ADD COLUMN payers text NOT NULL DEFAULT '';
