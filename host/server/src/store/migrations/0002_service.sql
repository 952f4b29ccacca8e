-- Accounts, keys, usage, filters of lists, repeated requests, webhooks, erasures.

-- An account has a row once it has a key or a job of its own.
CREATE TABLE accounts (
    account_id    TEXT   NOT NULL PRIMARY KEY,
    -- Null: the plan of the configuration.
    plan          TEXT,
    created_ms    BIGINT NOT NULL,
    -- When the queue last gave out a job of this account: whoever waited longest is next.
    last_claim_ms BIGINT NOT NULL
);

INSERT INTO accounts (account_id, plan, created_ms, last_claim_ms)
SELECT account_id, NULL, MIN(created_ms), 0 FROM jobs GROUP BY account_id;

CREATE TABLE api_keys (
    id         TEXT    NOT NULL PRIMARY KEY,
    account_id TEXT    NOT NULL,
    -- SHA-256 of the key, hex; the key itself is nowhere.
    digest     TEXT    NOT NULL UNIQUE,
    label      TEXT    NOT NULL,
    is_admin   BOOLEAN NOT NULL,
    created_ms BIGINT  NOT NULL,
    revoked_ms BIGINT
);

-- What was billed, kept when the jobs are gone. A day is UTC, written 2026-01-31.
CREATE TABLE usage (
    account_id TEXT             NOT NULL,
    day        TEXT             NOT NULL,
    kind       TEXT             NOT NULL,
    jobs       BIGINT           NOT NULL,
    billed_s   DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (account_id, day, kind)
);

-- The leaves of custom_metadata, for filters of lists.
CREATE TABLE job_metadata (
    job_id     TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    account_id TEXT NOT NULL,
    -- JSON Pointer of the leaf.
    path       TEXT NOT NULL,
    value      TEXT NOT NULL,
    PRIMARY KEY (job_id, path)
);

CREATE INDEX job_metadata_by_value ON job_metadata (account_id, path, value);

-- Answers to requests that carried an idempotency-key header.
CREATE TABLE idempotency_keys (
    account_id  TEXT   NOT NULL,
    key_digest  TEXT   NOT NULL,
    body_digest TEXT   NOT NULL,
    job_id      TEXT   NOT NULL,
    created_ms  BIGINT NOT NULL,
    PRIMARY KEY (account_id, key_digest)
);

CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_ms);

CREATE TABLE webhooks (
    id         TEXT   NOT NULL PRIMARY KEY,
    account_id TEXT   NOT NULL,
    url        TEXT   NOT NULL,
    -- Signs deliveries, so it cannot be a digest.
    secret     TEXT,
    -- JSON array of event names; null: all.
    events     TEXT,
    created_ms BIGINT NOT NULL
);

CREATE INDEX webhooks_by_account ON webhooks (account_id);

-- What the retention sweeper has erased, and how it made sure.
CREATE TABLE erasures (
    id          TEXT   NOT NULL PRIMARY KEY,
    account_id  TEXT   NOT NULL,
    -- No reference: the job itself may be what was erased.
    job_id      TEXT,
    class       TEXT   NOT NULL,
    reason      TEXT   NOT NULL,
    size_bytes  BIGINT NOT NULL,
    erased_ms   BIGINT NOT NULL,
    verified_ms BIGINT
);

CREATE INDEX erasures_by_account ON erasures (account_id, erased_ms);

-- Set for a delivery that belongs to a webhook; its secret is looked up when it is sent.
ALTER TABLE deliveries ADD COLUMN webhook_id TEXT;
-- What the client attached to a job after its creation; shown in post_session_metadata.
ALTER TABLE jobs ADD COLUMN client_metadata TEXT NOT NULL DEFAULT '{}';
-- The job belongs to a plan that keeps nothing.
ALTER TABLE jobs ADD COLUMN zero_retention BOOLEAN NOT NULL DEFAULT FALSE;

DROP INDEX jobs_by_account;
-- Lists read ids from this index alone, whatever the offset.
CREATE INDEX jobs_list ON jobs (account_id, created_ms DESC, id DESC, kind, status);
-- The queue asks by account.
CREATE INDEX jobs_due ON jobs (account_id, due_ms) WHERE completed_ms IS NULL;
CREATE INDEX jobs_running ON jobs (account_id) WHERE lease_owner IS NOT NULL;
CREATE INDEX deliveries_by_account ON deliveries (account_id, created_ms);
