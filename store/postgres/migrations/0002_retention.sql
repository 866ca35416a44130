-- +goose Up

-- What is said, by which sessions are found. It is filled when somebody looks
-- for something, so that a run does not pay for it.
CREATE TABLE words (
    stream bigint   NOT NULL REFERENCES streams (id),
    seq    bigint   NOT NULL,
    part   integer  NOT NULL, -- of a long text
    words  tsvector NOT NULL,
    PRIMARY KEY (stream, seq, part)
);

CREATE INDEX words_words ON words USING gin (words);

ALTER TABLE streams ADD COLUMN searched bigint NOT NULL DEFAULT 0; -- events up to this one are in words

CREATE INDEX blob_refs_stream ON blob_refs (stream);
