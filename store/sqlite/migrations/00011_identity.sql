-- +goose Up

CREATE TABLE keys (
    id         TEXT    PRIMARY KEY,
    hash       BLOB    NOT NULL UNIQUE, -- SHA-256; the key itself is not kept
    name       TEXT    NOT NULL,
    tenant     TEXT    NOT NULL,
    user       TEXT    NOT NULL,
    roles      TEXT    NOT NULL, -- their names, with commas between
    created    INTEGER NOT NULL,
    created_by TEXT    NOT NULL,
    expires    INTEGER NOT NULL, -- 0: never
    revoked    INTEGER NOT NULL, -- 0: it is not
    used       INTEGER NOT NULL  -- 0: never
) WITHOUT ROWID;

CREATE INDEX keys_tenant ON keys (tenant, created);

CREATE TABLE audit (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    time    INTEGER NOT NULL,
    tenant  TEXT    NOT NULL, -- empty: nobody knew who it was
    user    TEXT    NOT NULL,
    key     TEXT    NOT NULL,
    action  TEXT    NOT NULL,
    target  TEXT    NOT NULL,
    status  INTEGER NOT NULL,
    code    TEXT    NOT NULL,
    address TEXT    NOT NULL,
    request TEXT    NOT NULL,
    chain   TEXT    NOT NULL,
    times   INTEGER NOT NULL
);

CREATE INDEX audit_tenant ON audit (tenant, id);
CREATE INDEX audit_time ON audit (time);

-- +goose StatementBegin
CREATE TRIGGER audit_never_changes BEFORE UPDATE ON audit
BEGIN
    SELECT raise(ABORT, 'the audit log is append-only');
END;
-- +goose StatementEnd

PRAGMA user_version = 11;
