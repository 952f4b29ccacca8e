-- Every account that ever had anything has a row, so that a sweep need not look for accounts in
-- the tables of what they have.
INSERT INTO accounts (account_id, plan, created_ms, last_claim_ms)
SELECT account_id, NULL, MIN(created_ms), 0
FROM (
    SELECT account_id, created_ms FROM files
    UNION ALL SELECT account_id, created_ms FROM jobs
    UNION ALL SELECT account_id, erased_ms FROM erasures
) AS had
WHERE TRUE
GROUP BY account_id
ON CONFLICT (account_id) DO NOTHING;

-- Uploads that no job used and whose bytes are gone.
CREATE INDEX files_without_bytes ON files (account_id, created_ms) WHERE blob_key IS NULL;
