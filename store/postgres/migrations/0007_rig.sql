-- +goose Up

-- Paths are bytes: a file system does not know what text is.
CREATE TABLE rigs (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text   NOT NULL,
    name   text   NOT NULL,
    last   bigint NOT NULL, -- the place of the newest job; who queues or claims holds the lock of this row
    UNIQUE (tenant, name)
);

CREATE TABLE strands (
    rig      bigint NOT NULL,
    knot     text   NOT NULL,
    path     bytea  NOT NULL,
    digest   text   NOT NULL, -- empty: it is not there, or is no strand
    size     bigint NOT NULL,
    modified bigint,          -- in ns since 1970, UTC; null: nobody knows
    checked  bigint,          -- likewise
    skipped  text   NOT NULL,
    rev      bigint NOT NULL,
    PRIMARY KEY (rig, knot, path)
);

CREATE TABLE jobs (
    number  bigint           GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    rig     bigint           NOT NULL,
    seq     bigint           NOT NULL,
    id      text             NOT NULL,
    knot    text COLLATE "C" NOT NULL,
    event   text             NOT NULL,
    path    bytea            NOT NULL, -- empty: none
    digest  text             NOT NULL,
    content bytea,
    hops    bigint           NOT NULL,
    parent  text             NOT NULL,
    queued  timestamptz      NOT NULL,
    state   text COLLATE "C" NOT NULL,
    attempt bigint           NOT NULL DEFAULT 0,
    after   timestamptz,
    error   text             NOT NULL DEFAULT '',
    code    text             NOT NULL DEFAULT '',
    worker  text,                      -- null: nobody has it
    held    smallint         NOT NULL DEFAULT 0, -- 1: somebody has it; a number, of which the planner thinks without statistics that it is rare
    epoch   bigint           NOT NULL DEFAULT 0,
    session text             NOT NULL DEFAULT '',
    began   timestamptz,
    file    bytea            NOT NULL DEFAULT '',
    place   bigint           NOT NULL DEFAULT 0, -- in the file
    section bytea,
    ended   timestamptz,
    cost    double precision NOT NULL DEFAULT 0, -- US dollars
    tokens  bigint           NOT NULL DEFAULT 0,
    ready   boolean          NOT NULL, -- it is queued and nobody's, and the first of its knot and path that has not ended
    UNIQUE (rig, id),
    UNIQUE (rig, seq)
);

CREATE INDEX jobs_ready ON jobs (rig, knot, seq) WHERE ready;
CREATE INDEX jobs_after ON jobs (rig, after NULLS FIRST, seq) WHERE ready;
CREATE INDEX jobs_held ON jobs (rig, seq) WHERE held = 1;
CREATE INDEX jobs_open ON jobs (rig, knot, path, seq) WHERE ended IS NULL;
CREATE INDEX jobs_state ON jobs (rig, state, seq, knot);
CREATE INDEX jobs_done ON jobs (rig, ended) WHERE state = 'done';

-- What attempts have cost: it stays when their job is dropped.
CREATE TABLE job_costs (
    rig    bigint           NOT NULL,
    knot   text             NOT NULL,
    time   timestamptz      NOT NULL,
    cost   double precision NOT NULL,
    tokens bigint           NOT NULL
);

CREATE INDEX job_costs_time ON job_costs (rig, time);

CREATE TABLE written (
    rig    bigint      NOT NULL,
    path   bytea       NOT NULL,
    digest text        NOT NULL,
    job    text        NOT NULL,
    knot   text        NOT NULL,
    hops   bigint      NOT NULL,
    time   timestamptz NOT NULL,
    PRIMARY KEY (rig, path, digest)
);

CREATE INDEX written_time ON written (rig, time);
