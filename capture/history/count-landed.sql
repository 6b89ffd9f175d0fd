-- Says of the updates for block $2 of chain $1, of time $3, whether they are among its transactions $4, and counts the block for
-- the pools that they name.
WITH judged AS (
  UPDATE operator.pamm_submission SET has_landed = tx_hash = ANY ($4::text[])
  WHERE chain_id = $1 AND block_number = $2::numeric AND has_landed IS NULL AND NOT is_cancel AND pools <> '{}'
  RETURNING pools, has_landed
), by_pool AS (
  SELECT pool, bool_or(has_landed) AS has_landed FROM judged, unnest(pools) AS pool GROUP BY pool
)
UPDATE history.executability_hour e
SET own_block_count = e.own_block_count + 1, own_landed_count = e.own_landed_count + by_pool.has_landed::int4
FROM by_pool
WHERE e.chain_id = $1 AND e.pool = by_pool.pool AND e.hour_ts = $3::int8 - $3::int8 % 3600
