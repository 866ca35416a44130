-- +goose Up

-- When the first question that the stream waits for expires, in µs; 0: never.
ALTER TABLE streams ADD COLUMN until INTEGER NOT NULL DEFAULT 0;

CREATE INDEX streams_until ON streams (until) WHERE until > 0;

PRAGMA user_version = 2;
