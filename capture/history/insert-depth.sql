-- One sample per pool and minute: whoever comes later finds it, and inserts nothing.
INSERT INTO history.quote_minute (chain_id, pool, block_timestamp, block_number, status, bid_x64, ask_x64, is_change,
  bid_depth_raw, ask_depth_raw)
SELECT $1, s.pool, s."blockTimestamp", s."blockNumber", 'healthy', s."bidX64", s."askX64", false, s.bids, s.asks
FROM json_to_recordset($2) AS s (pool text, "blockTimestamp" int8, "blockNumber" int8, "bidX64" numeric, "askX64" numeric,
  bids numeric[], asks numeric[])
WHERE NOT EXISTS (SELECT FROM history.quote_minute q WHERE q.chain_id = $1 AND q.pool = s.pool
  AND q.block_timestamp >= s."blockTimestamp" - s."blockTimestamp" % 60)
ON CONFLICT DO NOTHING
