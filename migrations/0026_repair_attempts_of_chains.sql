-- Of a repair, `attempt` of each of its chains, in the order of `refetched_chains`: `attempt` is the highest of them.
ALTER TABLE operator.backfill ADD COLUMN attempts int4[] NOT NULL DEFAULT '{}';
