-- Whether nothing about its job is owed to its receiver before it. The database itself keeps this,
-- so that whoever looks for what is due reads no message that has to wait.
ALTER TABLE deliveries ADD COLUMN is_first BOOLEAN NOT NULL DEFAULT TRUE;

UPDATE deliveries SET is_first = FALSE
WHERE EXISTS (
    SELECT 1 FROM deliveries e
    WHERE e.job_id = deliveries.job_id AND e.place < deliveries.place AND e.next_try_ms IS NOT NULL
      AND e.target = deliveries.target
      AND COALESCE(e.webhook_id, '') = COALESCE(deliveries.webhook_id, ''));

CREATE TRIGGER delivery_begins_or_ends_to_be_owed AFTER UPDATE OF next_try_ms ON deliveries
WHEN (OLD.next_try_ms IS NULL) <> (NEW.next_try_ms IS NULL)
BEGIN
    UPDATE deliveries SET is_first = NOT EXISTS (
        SELECT 1 FROM deliveries e
        WHERE e.job_id = deliveries.job_id AND e.place < deliveries.place AND e.next_try_ms IS NOT NULL
          AND e.target = deliveries.target
          AND COALESCE(e.webhook_id, '') = COALESCE(deliveries.webhook_id, ''))
    WHERE job_id = NEW.job_id AND place > NEW.place AND target = NEW.target
      AND COALESCE(webhook_id, '') = COALESCE(NEW.webhook_id, '');
END;

-- A line: what an account owes to one receiver, in the order in which it is sent. It ends with the
-- condition, or every row would be looked up for it.
CREATE INDEX deliveries_lines ON deliveries (account_id, receiver, next_try_ms, id, is_first)
    WHERE next_try_ms IS NOT NULL AND is_first;
