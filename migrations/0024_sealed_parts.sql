-- Whether funded pools are in a sealed block as quotes gave them after its last part.

ALTER TABLE history.executability_hour
  -- Blocks of the hour in which the pool was compared, and those of them in which it was the same.
  ADD COLUMN sealed_count      int4 NOT NULL DEFAULT 0,
  ADD COLUMN sealed_same_count int4 NOT NULL DEFAULT 0;

DROP FUNCTION read_model.executability(int8, text, int8, int8);
-- Shares of the samples of a pool's hours that begin in [from_ts, to_ts), of the blocks of own updates, and of the sealed blocks
-- that were compared with their last part; null without one.
CREATE FUNCTION read_model.executability(of_chain int8, of_pool text, from_ts int8, to_ts int8)
RETURNS TABLE (committed_share float8, live_share float8, own_landed_share float8, sealed_share float8)
LANGUAGE sql STABLE AS $$
  SELECT sum(committed_count)::float8 / nullif(sum(sample_count), 0), sum(live_count)::float8 / nullif(sum(live_sample_count), 0),
         sum(own_landed_count)::float8 / nullif(sum(own_block_count), 0),
         sum(sealed_same_count)::float8 / nullif(sum(sealed_count), 0)
  FROM history.executability_hour
  WHERE chain_id = of_chain AND pool = of_pool AND hour_ts >= from_ts AND hour_ts < to_ts
$$;
