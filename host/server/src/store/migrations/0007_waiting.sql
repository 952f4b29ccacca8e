-- How many recorded jobs wait. The database itself keeps count: each POST asks, and looking at
-- every job that waits took milliseconds.
CREATE TABLE waiting_jobs (
    id         TEXT   NOT NULL PRIMARY KEY,
    account_id TEXT   NOT NULL,
    jobs       BIGINT NOT NULL
);

INSERT INTO waiting_jobs (id, account_id, jobs)
SELECT 'all', '', COUNT(*) FROM jobs WHERE kind = 'pre-recorded' AND status = 'queued';

CREATE TRIGGER job_begins_to_wait AFTER INSERT ON jobs
WHEN NEW.kind = 'pre-recorded' AND NEW.status = 'queued'
BEGIN
    UPDATE waiting_jobs SET jobs = jobs + 1;
END;

CREATE TRIGGER job_changes_while_waiting AFTER UPDATE OF status ON jobs
WHEN NEW.kind = 'pre-recorded' AND OLD.status <> NEW.status AND 'queued' IN (OLD.status, NEW.status)
BEGIN
    UPDATE waiting_jobs SET jobs = jobs + CASE NEW.status WHEN 'queued' THEN 1 ELSE -1 END;
END;

CREATE TRIGGER job_is_deleted_while_waiting AFTER DELETE ON jobs
WHEN OLD.kind = 'pre-recorded' AND OLD.status = 'queued'
BEGIN
    UPDATE waiting_jobs SET jobs = jobs - 1;
END;
