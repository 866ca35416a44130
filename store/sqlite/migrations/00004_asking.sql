-- +goose Up

ALTER TABLE streams ADD COLUMN asking INTEGER NOT NULL DEFAULT 0; -- a question may be open

CREATE INDEX streams_asking ON streams (tenant, stream) WHERE asking = 1;

PRAGMA user_version = 4;
