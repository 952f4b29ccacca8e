-- A list by metadata is read from one index, in the order of the list; what it asks beside
-- the metadata stands there as well, but for the status, which changes.
ALTER TABLE job_metadata ADD COLUMN kind TEXT NOT NULL DEFAULT '';
ALTER TABLE job_metadata ADD COLUMN created_ms BIGINT NOT NULL DEFAULT 0;

-- Jobs from before the table: the pairs of model::metadata. Numbers stand as the database
-- writes them, which differs for exponents only.
INSERT INTO job_metadata (job_id, account_id, path, value)
WITH RECURSIVE members (job_id, account_id, path, type, value) AS (
    SELECT j.id, j.account_id, '/' || REPLACE(REPLACE(m.key, '~', '~0'), '/', '~1'), m.type, m.value
    FROM jobs j, json_each(j.spec, '$.custom_metadata') m
    WHERE json_type(j.spec, '$.custom_metadata') = 'object'
      AND NOT EXISTS (SELECT 1 FROM job_metadata known WHERE known.job_id = j.id)
    UNION ALL
    SELECT o.job_id, o.account_id, o.path || '/' || REPLACE(REPLACE(m.key, '~', '~0'), '/', '~1'),
           m.type, m.value
    FROM members o, json_each(o.value) m
    WHERE o.type = 'object'
)
SELECT job_id, account_id, path,
       CASE
           WHEN type = 'object' THEN 'o'
           WHEN type = 'array' THEN 'a' || value
           WHEN type IN ('true', 'false', 'null') THEN 's' || type
           WHEN type = 'text' AND LOWER(value) IN ('true', 'false') THEN 's' || LOWER(value)
           ELSE 's' || value
       END
FROM members;

UPDATE job_metadata
SET kind = (SELECT kind FROM jobs WHERE id = job_id),
    created_ms = (SELECT created_ms FROM jobs WHERE id = job_id);

DROP INDEX job_metadata_by_value;
CREATE INDEX job_metadata_by_value
    ON job_metadata (account_id, path, value, created_ms DESC, job_id DESC, kind);
