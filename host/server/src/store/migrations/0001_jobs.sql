-- Ids are TEXT, times BIGINT milliseconds since 1970 (UTC), JSON is TEXT: the same
-- statements serve SQLite and PostgreSQL. No table holds speech text.

CREATE TABLE files (
    id                 TEXT   NOT NULL PRIMARY KEY,
    account_id         TEXT   NOT NULL,
    filename           TEXT,
    source             TEXT,
    audio_duration_s   DOUBLE PRECISION,
    number_of_channels BIGINT,
    size_bytes         BIGINT,
    sha256             TEXT,
    blob_key           TEXT,
    created_ms         BIGINT NOT NULL
);

CREATE UNIQUE INDEX files_by_blob ON files (blob_key) WHERE blob_key IS NOT NULL;

CREATE TABLE jobs (
    id                    TEXT   NOT NULL PRIMARY KEY,
    account_id            TEXT   NOT NULL,
    kind                  TEXT   NOT NULL,
    status                TEXT   NOT NULL,
    request_id            TEXT   NOT NULL,
    spec                  TEXT   NOT NULL,
    file_id               TEXT   REFERENCES files (id),
    created_ms            BIGINT NOT NULL,
    completed_ms          BIGINT,
    error_code            BIGINT,
    post_session_metadata TEXT   NOT NULL,
    result_key            TEXT,
    -- Claims so far; written with the claim, before any work.
    attempts              BIGINT NOT NULL,
    -- Leases that ended without a word from their worker.
    crashes               BIGINT NOT NULL,
    -- Failures that were ours and not the input's; retried once.
    faults                BIGINT NOT NULL,
    lease_owner           TEXT,
    -- When a worker may take the job: the next try, or the end of the lease.
    due_ms                BIGINT
);

CREATE INDEX jobs_unfinished ON jobs (created_ms, id) WHERE completed_ms IS NULL;
CREATE INDEX jobs_by_account ON jobs (account_id, created_ms, id);
CREATE INDEX jobs_by_file ON jobs (file_id);
CREATE UNIQUE INDEX jobs_by_result ON jobs (result_key) WHERE result_key IS NOT NULL;

CREATE TABLE checkpoints (
    job_id     TEXT   NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    step       TEXT   NOT NULL,
    account_id TEXT   NOT NULL,
    -- Identity of everything that made the blob; another digest means: do it again.
    digest     TEXT   NOT NULL,
    blob_key   TEXT   NOT NULL,
    PRIMARY KEY (job_id, step)
);

CREATE UNIQUE INDEX checkpoints_by_blob ON checkpoints (blob_key);

CREATE TABLE deliveries (
    id          TEXT   NOT NULL PRIMARY KEY,
    account_id  TEXT   NOT NULL,
    job_id      TEXT   NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    event       TEXT   NOT NULL,
    target      TEXT   NOT NULL,
    url         TEXT   NOT NULL,
    method      TEXT   NOT NULL,
    attempts    BIGINT NOT NULL,
    last_error  TEXT,
    created_ms  BIGINT NOT NULL,
    -- Null once it was delivered or given up.
    next_try_ms BIGINT,
    delivered_ms BIGINT
);

CREATE INDEX deliveries_due ON deliveries (next_try_ms) WHERE next_try_ms IS NOT NULL;
CREATE INDEX deliveries_by_job ON deliveries (job_id);

-- One row, rewritten to find out whether the database takes writes.
CREATE TABLE probe (
    id         TEXT   NOT NULL PRIMARY KEY,
    account_id TEXT   NOT NULL,
    written_ms BIGINT NOT NULL
);
