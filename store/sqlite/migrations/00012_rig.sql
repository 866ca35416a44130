-- +goose Up

CREATE TABLE rigs (
    id     INTEGER PRIMARY KEY,
    tenant TEXT    NOT NULL,
    name   TEXT    NOT NULL,
    last   INTEGER NOT NULL, -- the place of the newest job
    UNIQUE (tenant, name)
);

CREATE TABLE strands (
    rig      INTEGER NOT NULL,
    knot     TEXT    NOT NULL,
    path     TEXT    NOT NULL,
    digest   TEXT    NOT NULL, -- empty: it is not there, or is no strand
    size     INTEGER NOT NULL,
    modified INTEGER,          -- in ns since 1970, UTC; null: nobody knows
    checked  INTEGER,          -- likewise
    skipped  TEXT    NOT NULL,
    rev      INTEGER NOT NULL,
    PRIMARY KEY (rig, knot, path)
) WITHOUT ROWID;

CREATE TABLE jobs (
    number  INTEGER PRIMARY KEY,
    rig     INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    id      TEXT    NOT NULL,
    knot    TEXT    NOT NULL,
    event   TEXT    NOT NULL,
    path    TEXT    NOT NULL, -- empty: none
    digest  TEXT    NOT NULL,
    hops    INTEGER NOT NULL,
    parent  TEXT    NOT NULL,
    queued  INTEGER NOT NULL, -- times are in µs since 1970, UTC; 0: none
    state   TEXT    NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 0,
    after   INTEGER NOT NULL,
    error   TEXT    NOT NULL DEFAULT '',
    code    TEXT    NOT NULL DEFAULT '',
    worker  TEXT,             -- null: nobody has it
    epoch   INTEGER NOT NULL DEFAULT 0,
    session TEXT    NOT NULL DEFAULT '',
    began   INTEGER NOT NULL DEFAULT 0,
    file    TEXT    NOT NULL DEFAULT '',
    place   INTEGER NOT NULL DEFAULT 0, -- in the file
    ended   INTEGER NOT NULL DEFAULT 0,
    cost    REAL    NOT NULL DEFAULT 0, -- US dollars
    tokens  INTEGER NOT NULL DEFAULT 0,
    ready   INTEGER NOT NULL, -- it is queued and nobody's, and the first of its knot and path that has not ended
    UNIQUE (rig, id),
    UNIQUE (rig, seq)
);

CREATE INDEX jobs_ready ON jobs (rig, knot, seq, after) WHERE ready = 1;
CREATE INDEX jobs_after ON jobs (rig, after, seq) WHERE ready = 1;
CREATE INDEX jobs_held ON jobs (rig, seq) WHERE worker IS NOT NULL;
CREATE INDEX jobs_open ON jobs (rig, knot, path, seq) WHERE ended = 0;
CREATE INDEX jobs_state ON jobs (rig, state, seq, knot);
CREATE INDEX jobs_done ON jobs (rig, ended) WHERE state = 'done';

-- What is long stands apart, so that it is not written anew with each step of a job.
CREATE TABLE job_bytes (
    job     INTEGER PRIMARY KEY REFERENCES jobs (number) ON DELETE CASCADE,
    content BLOB,
    section BLOB
);

-- What attempts have cost: it stays when their job is dropped.
CREATE TABLE job_costs (
    rig    INTEGER NOT NULL,
    knot   TEXT    NOT NULL,
    time   INTEGER NOT NULL,
    cost   REAL    NOT NULL,
    tokens INTEGER NOT NULL
);

CREATE INDEX job_costs_time ON job_costs (rig, time);

CREATE TABLE written (
    rig    INTEGER NOT NULL,
    path   TEXT    NOT NULL,
    digest TEXT    NOT NULL,
    job    TEXT    NOT NULL,
    knot   TEXT    NOT NULL,
    hops   INTEGER NOT NULL,
    time   INTEGER NOT NULL,
    PRIMARY KEY (rig, path, digest)
) WITHOUT ROWID;

CREATE INDEX written_time ON written (rig, time);

PRAGMA user_version = 12;
