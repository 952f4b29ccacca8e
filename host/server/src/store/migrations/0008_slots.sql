-- Whether the holder of the lease computes with the job, so that a process that ends puts the
-- blame on those jobs and not on the ones that were fetched or waited at the time.
ALTER TABLE jobs ADD COLUMN in_slot BOOLEAN NOT NULL DEFAULT FALSE;
