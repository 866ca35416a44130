-- +goose Up

CREATE TABLE streams (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant      text COLLATE "C" NOT NULL,
    stream      text COLLATE "C" NOT NULL,
    last        bigint           NOT NULL, -- the number of the newest event
    epoch       bigint           NOT NULL,
    worker      text,                      -- the owner; null: free
    runnable    boolean          NOT NULL,
    waiting     timestamptz,               -- since when it is runnable
    status      text             NOT NULL,
    shared      boolean          NOT NULL,
    profile     text             NOT NULL,
    title       text             NOT NULL,
    created     timestamptz      NOT NULL,
    updated     timestamptz      NOT NULL,
    last_active timestamptz      NOT NULL,
    turns       bigint           NOT NULL,
    input       bigint           NOT NULL, -- tokens
    output      bigint           NOT NULL,
    cache_read  bigint           NOT NULL,
    cache_write bigint           NOT NULL,
    cost        double precision NOT NULL, -- US dollars
    estimated   boolean          NOT NULL,
    open        boolean          NOT NULL,
    suspended   boolean          NOT NULL,
    failed      boolean          NOT NULL,
    prompts     bigint           NOT NULL,
    notes       bigint           NOT NULL,
    held        bigint           NOT NULL,
    until       timestamptz,               -- when the first question that it waits for expires
    children    bigint           NOT NULL, -- sessions below the root
    asking      boolean          NOT NULL, -- a question may be open
    settings    text             NOT NULL, -- of the session, as JSON; empty: none
    origin      text             NOT NULL, -- the session that it branched from; empty: none
    why         text             NOT NULL, -- it did
    UNIQUE (tenant, stream)
);

CREATE INDEX streams_runnable ON streams (waiting, id) WHERE runnable;
CREATE INDEX streams_worker ON streams (worker) WHERE runnable;
CREATE INDEX streams_until ON streams (until) WHERE until IS NOT NULL;
CREATE INDEX streams_asking ON streams (tenant, stream) WHERE asking;

CREATE TABLE events (
    stream  bigint      NOT NULL REFERENCES streams (id),
    seq     bigint      NOT NULL,
    v       integer     NOT NULL,
    session text        NOT NULL,
    loop    text        NOT NULL,
    turn    bigint      NOT NULL,
    agent   text        NOT NULL,
    depth   integer     NOT NULL,
    chain   text        NOT NULL,
    time    timestamptz NOT NULL,
    type    text        NOT NULL,
    data    bytea       NOT NULL, -- JSON
    refs    text[],               -- digests of blobs
    PRIMARY KEY (stream, seq)
);

-- A row here opens the log for retention, which alone may delete events.
CREATE TABLE retention (stream bigint PRIMARY KEY REFERENCES streams (id));

-- +goose StatementBegin
CREATE FUNCTION events_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF EXISTS (SELECT 1 FROM retention WHERE stream = OLD.stream) THEN
            RETURN OLD;
        END IF;
        RAISE EXCEPTION 'events are append-only; only retention deletes them';
    END IF;
    RAISE EXCEPTION 'events are append-only';
END $$;
-- +goose StatementEnd

CREATE TRIGGER events_stay BEFORE UPDATE OR DELETE ON events FOR EACH ROW EXECUTE FUNCTION events_stay();
CREATE TRIGGER events_stay_all BEFORE TRUNCATE ON events FOR EACH STATEMENT EXECUTE FUNCTION events_stay();

CREATE TABLE posts (
    tenant text        NOT NULL,
    idem   text        NOT NULL,
    digest bytea       NOT NULL, -- of the types and bodies of the events
    stream bigint      NOT NULL REFERENCES streams (id),
    first  bigint      NOT NULL,
    last   bigint      NOT NULL,
    until  timestamptz NOT NULL,
    PRIMARY KEY (tenant, idem)
);

CREATE INDEX posts_until ON posts (until);

CREATE TABLE blobs (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text        NOT NULL,
    digest text        NOT NULL,
    put    timestamptz NOT NULL,
    needed boolean     NOT NULL, -- by an event
    data   bytea       NOT NULL,
    UNIQUE (tenant, digest)
);

CREATE INDEX blobs_unneeded ON blobs (put) WHERE NOT needed;

CREATE TABLE blob_refs (
    blob   bigint NOT NULL REFERENCES blobs (id),
    stream bigint NOT NULL REFERENCES streams (id),
    PRIMARY KEY (blob, stream)
);

CREATE TABLE workers (
    id   text PRIMARY KEY,
    beat timestamptz NOT NULL,
    dead boolean     NOT NULL
);
