-- One sample per pool and minute: whoever comes later inserts nothing.
INSERT INTO history.persistence_minute (chain_id, pool, block_timestamp, block_number, bid_changes_e6, ask_changes_e6,
  bid_gone_e6, ask_gone_e6)
SELECT $1, s.pool, $2, $3, s.bids, s.asks, s."bidGone", s."askGone"
FROM json_to_recordset($4) AS s (pool text, bids int4[], asks int4[], "bidGone" int4, "askGone" int4)
WHERE NOT EXISTS (SELECT FROM history.persistence_minute m WHERE m.chain_id = $1 AND m.pool = s.pool
  AND m.block_timestamp >= $2::int8 - $2::int8 % 60 AND m.block_timestamp < $2::int8 - $2::int8 % 60 + 60)
ON CONFLICT DO NOTHING
