SELECT block_timestamp::float8 AS ts, block_number::float8 AS "blockNumber", status, basis, bid_x64::text AS "bidX64",
  ask_x64::text AS "askX64", bid_depth_raw::text[] AS bids, ask_depth_raw::text[] AS asks
FROM history.quote_minute
WHERE chain_id = $1 AND pool = $2 AND block_timestamp < $3 ORDER BY block_timestamp DESC LIMIT $4
