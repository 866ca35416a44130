-- +goose Up

ALTER TABLE streams ADD COLUMN children INTEGER NOT NULL DEFAULT 0; -- sessions below the root

PRAGMA user_version = 3;
