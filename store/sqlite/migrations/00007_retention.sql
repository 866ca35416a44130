-- +goose Up

-- What is said, by which sessions are found. It is filled when somebody looks
-- for something, so that a run does not pay for it.
CREATE VIRTUAL TABLE words USING fts5 (text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0');

CREATE TABLE worded (
    id     INTEGER PRIMARY KEY, -- the row of words
    stream INTEGER NOT NULL REFERENCES streams (id)
);

CREATE INDEX worded_stream ON worded (stream);

ALTER TABLE streams ADD COLUMN searched INTEGER NOT NULL DEFAULT 0; -- events up to this one are in words

CREATE INDEX blob_refs_stream ON blob_refs (stream);

PRAGMA user_version = 7;
