-- +goose Up

ALTER TABLE streams ADD COLUMN origin TEXT NOT NULL DEFAULT ''; -- the session that it branches off
ALTER TABLE streams ADD COLUMN why TEXT NOT NULL DEFAULT '';

PRAGMA user_version = 6;
