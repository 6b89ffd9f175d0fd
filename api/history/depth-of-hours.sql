SELECT hour_ts::float8 AS ts, NULL AS "blockNumber", 'healthy' AS status, NULL AS basis, trunc(close_bid_x64)::text AS "bidX64",
  trunc(close_ask_x64)::text AS "askX64", bid_depth_raw::text[] AS bids, ask_depth_raw::text[] AS asks
FROM history.quote_hour
WHERE chain_id = $1 AND pool = $2 AND hour_ts < $3 ORDER BY hour_ts DESC LIMIT $4
