-- Indexes of the queue: they hold no final job, all that a statement asks for, and the order
-- in which jobs are given out.

DROP INDEX jobs_unfinished;
DROP INDEX jobs_due;
DROP INDEX jobs_running;

-- Jobs that a worker may take now or later. A final job and a live one are never due.
CREATE INDEX jobs_claimable ON jobs (account_id, created_ms, id, due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX jobs_leased ON jobs (account_id, due_ms, lease_owner) WHERE lease_owner IS NOT NULL;
CREATE INDEX jobs_open ON jobs (kind, status, completed_ms) WHERE completed_ms IS NULL;
