-- Sending deliveries: whose turn it is, and who is at it.

-- host:port of the receiver; what hangs there must not hold up the others.
ALTER TABLE deliveries ADD COLUMN receiver TEXT NOT NULL DEFAULT '';
-- Place among the deliveries of the job: one receiver hears of a job in this order.
ALTER TABLE deliveries ADD COLUMN place BIGINT NOT NULL DEFAULT 0;
-- The process that sends it now; next_try_ms is the end of its lease.
ALTER TABLE deliveries ADD COLUMN claim_owner TEXT;

DROP INDEX deliveries_due;
CREATE INDEX deliveries_due ON deliveries (next_try_ms, account_id, receiver) WHERE next_try_ms IS NOT NULL;
CREATE INDEX deliveries_claimed ON deliveries (claim_owner) WHERE claim_owner IS NOT NULL;

-- Webhooks of the configuration lie here as well, so that one statement finds all.
ALTER TABLE webhooks ADD COLUMN is_configured BOOLEAN NOT NULL DEFAULT FALSE;

-- Lists of deliveries, the newest first.
CREATE INDEX deliveries_by_age ON deliveries (created_ms DESC, id DESC);
