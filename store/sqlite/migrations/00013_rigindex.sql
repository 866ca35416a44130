-- +goose Up

-- The jobs of one file, and the files that are gone, which are forgotten after a while.
CREATE INDEX jobs_path ON jobs (rig, path, seq);
CREATE INDEX strands_gone ON strands (rig, checked) WHERE digest = '' AND skipped = '' AND modified IS NULL;

PRAGMA user_version = 13;
