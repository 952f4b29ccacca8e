-- What the retention sweeper looks for, so that it never reads a whole table: it looks for
-- jobs to forget every second, and holds the writer while it gives data up.

CREATE INDEX jobs_to_forget ON jobs (completed_ms) WHERE zero_retention;
CREATE INDEX jobs_by_end ON jobs (account_id, completed_ms) WHERE completed_ms IS NOT NULL;
CREATE INDEX results_by_end ON jobs (account_id, completed_ms) WHERE result_key IS NOT NULL;
CREATE INDEX audio_by_age ON files (account_id, created_ms) WHERE blob_key IS NOT NULL;

-- A row is written once the bytes are seen to be gone; their number is not known any more.
ALTER TABLE erasures DROP COLUMN size_bytes;
ALTER TABLE erasures DROP COLUMN verified_ms;
CREATE INDEX erasures_by_age ON erasures (erased_ms DESC, id DESC);
