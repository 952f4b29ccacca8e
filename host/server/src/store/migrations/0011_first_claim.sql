-- When the job was given out for the first time: it gets some tries from then on, however long it
-- had waited.
ALTER TABLE jobs ADD COLUMN first_claim_ms BIGINT;
