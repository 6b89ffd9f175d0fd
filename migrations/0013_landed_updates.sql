-- Whether updates whose makers let them be published landed in the block that they are for.

ALTER TABLE operator.pamm_submission
  -- The pools that an update names; none unless its maker lets it be published.
  ADD COLUMN pools operator.address[] NOT NULL DEFAULT '{}',
  -- Null until its block is final.
  ADD COLUMN has_landed boolean;
CREATE INDEX ON operator.pamm_submission (chain_id, has_landed, block_number) WHERE NOT is_cancel AND pools <> '{}';
GRANT SELECT, UPDATE (has_landed) ON operator.pamm_submission TO ptd_capture;

CREATE OR REPLACE VIEW read_model.pamm_submission AS
  SELECT submission_id, chain_id, received_at, replacement_uuid, replacement_seq_number, block_number, max_timestamp, is_cancel,
         tx_hash, pools::text[] AS pools, has_landed
  FROM operator.pamm_submission;
COMMENT ON COLUMN read_model.pamm_submission.pools IS 'Pools that an update names; none unless its maker lets it be published';
COMMENT ON COLUMN read_model.pamm_submission.has_landed IS
  'Whether block_number has it; null until that block is final, and of updates without pools';

ALTER TABLE history.executability_hour
  -- Blocks of the hour that published updates were for, and those of them in which one landed.
  ADD COLUMN own_block_count int4 NOT NULL DEFAULT 0,
  ADD COLUMN own_landed_count int4 NOT NULL DEFAULT 0;

DROP FUNCTION read_model.executability(int8, text, int8, int8);
-- Shares of the samples of a pool's hours that begin in [from_ts, to_ts), and of the blocks of own updates; null without one.
CREATE FUNCTION read_model.executability(of_chain int8, of_pool text, from_ts int8, to_ts int8)
RETURNS TABLE (committed_share float8, live_share float8, own_landed_share float8)
LANGUAGE sql STABLE AS $$
  SELECT sum(committed_count)::float8 / nullif(sum(sample_count), 0), sum(live_count)::float8 / nullif(sum(live_sample_count), 0),
         sum(own_landed_count)::float8 / nullif(sum(own_block_count), 0)
  FROM history.executability_hour
  WHERE chain_id = of_chain AND pool = of_pool AND hour_ts >= from_ts AND hour_ts < to_ts
$$;
