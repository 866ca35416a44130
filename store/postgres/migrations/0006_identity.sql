-- +goose Up

CREATE TABLE keys (
    id         text        PRIMARY KEY,
    hash       bytea       NOT NULL UNIQUE, -- SHA-256; the key itself is not kept
    name       text        NOT NULL,
    tenant     text        NOT NULL,
    "user"     text        NOT NULL,
    roles      text        NOT NULL, -- their names, with commas between
    created    timestamptz NOT NULL,
    created_by text        NOT NULL,
    expires    timestamptz, -- null: never
    revoked    timestamptz, -- null: it is not
    used       timestamptz  -- null: never
);

CREATE INDEX keys_tenant ON keys (tenant, created);

CREATE TABLE audit (
    id      bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    time    timestamptz NOT NULL,
    tenant  text        NOT NULL, -- empty: nobody knew who it was
    "user"  text        NOT NULL,
    key     text        NOT NULL,
    action  text        NOT NULL,
    target  text        NOT NULL,
    status  integer     NOT NULL,
    code    text        NOT NULL,
    address text        NOT NULL,
    request text        NOT NULL,
    chain   text        NOT NULL,
    times   integer     NOT NULL
);

CREATE INDEX audit_tenant ON audit (tenant, id);
CREATE INDEX audit_time ON audit (time);

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION audit_never_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only';
END
$$;
-- +goose StatementEnd

CREATE TRIGGER audit_never_changes BEFORE UPDATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION audit_never_changes();
