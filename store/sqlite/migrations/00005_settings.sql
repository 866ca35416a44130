-- +goose Up

-- What the session sets over its profile, as JSON; empty: nothing.
ALTER TABLE streams ADD COLUMN settings TEXT NOT NULL DEFAULT '';

PRAGMA user_version = 5;
