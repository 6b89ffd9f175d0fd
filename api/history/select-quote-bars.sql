-- $3: seconds of a bar; $6: bid, ask or mid, of which the names are columns of hours.
WITH mark AS MATERIALIZED (
  SELECT hours_until, least(history.trades_until($1), greatest(hours_until, (
           SELECT max(block_timestamp) FROM history.quote_minute WHERE chain_id = $1 AND pool = $2))) AS final_until
  FROM (SELECT coalesce(max(hour_ts) + 3600, 0) AS hours_until FROM history.quote_hour WHERE chain_id = $1) written
), sample AS NOT MATERIALIZED (
  SELECT block_timestamp, is_change,
    CASE $6::text WHEN 'bid' THEN bid_x64 WHEN 'ask' THEN ask_x64 ELSE (bid_x64 + ask_x64) * 0.5 END AS price
  FROM history.quote_minute
  WHERE chain_id = $1 AND pool = $2 AND status = 'healthy' AND bid_x64 + ask_x64 IS NOT NULL AND block_timestamp < $4::int8
    AND block_timestamp >= (SELECT CASE WHEN $3::int8 >= 3600 THEN hours_until ELSE 0 END FROM mark)
), part (ts, open, high, low, close, sample_count) AS (
  (SELECT hour_ts, :"open", :"high", :"low", :"close", sample_count FROM history.quote_hour
   WHERE chain_id = $1 AND pool = $2 AND hour_ts < $4::int8 AND $3::int8 >= 3600
   ORDER BY hour_ts DESC LIMIT $5::int8 * $3::int8 / 3600)
  UNION ALL
  SELECT block_timestamp, price, price, price, price, 1
  FROM sample WHERE block_timestamp >= (
    -- A minute has at most one sample that is no change: samples of this many minutes fill at least $5 bars. With fewer, all
    -- count: also those of minutes that began without a price.
    SELECT CASE WHEN count(*) < $5::int8 * $3::int8 / 60 THEN 0
                ELSE min(block_timestamp) - min(block_timestamp) % $3::int8 END FROM (
      SELECT block_timestamp FROM sample WHERE NOT is_change
      ORDER BY block_timestamp DESC LIMIT $5::int8 * $3::int8 / 60) newest)
), bars AS (
  SELECT ts - ts % $3::int8 AS start_ts, (array_agg(open ORDER BY ts))[1] AS open, max(high) AS high, min(low) AS low,
    (array_agg(close ORDER BY ts DESC))[1] AS close, sum(sample_count) AS sample_count
  FROM part GROUP BY 1 ORDER BY 1 DESC LIMIT $5::int8
)
SELECT final_until AS "finalUntil", start_ts AS "startTs", trunc(open * 2)::text AS open, trunc(high * 2)::text AS high,
  trunc(low * 2)::text AS low, trunc(close * 2)::text AS close, sample_count AS count
FROM mark LEFT JOIN bars ON true ORDER BY start_ts DESC
