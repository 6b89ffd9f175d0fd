-- Says of the updates for block $2 of chain $1, of time $3, whether they are among its transactions $4, and counts the block for
-- the pools that they name: once, also where the audit trail gets its updates in parts.
WITH before AS (
  SELECT pool, bool_or(has_landed) AS has_landed FROM operator.pamm_submission, unnest(pools) AS pool
  WHERE chain_id = $1 AND has_landed = ANY ('{true,false}') AND block_number = $2::numeric AND NOT is_cancel AND pools <> '{}'
  GROUP BY pool
), judged AS (
  UPDATE operator.pamm_submission SET has_landed = tx_hash = ANY ($4::text[])
  WHERE chain_id = $1 AND has_landed IS NULL AND block_number = $2::numeric AND NOT is_cancel AND pools <> '{}'
  RETURNING pools, has_landed
), now AS (
  SELECT pool, bool_or(has_landed) AS has_landed FROM judged, unnest(pools) AS pool GROUP BY pool
)
UPDATE history.executability_hour e
SET own_block_count = e.own_block_count + (before.pool IS NULL)::int4,
    own_landed_count = e.own_landed_count + (now.has_landed AND before.has_landed IS NOT TRUE)::int4
FROM now LEFT JOIN before USING (pool)
WHERE e.chain_id = $1 AND e.pool = now.pool AND e.hour_ts = $3::int8 - $3::int8 % 3600
