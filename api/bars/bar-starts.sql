-- $3: seconds of a bar; $7: those of the stored bars of which it is made.
WITH mark AS (
  SELECT history.trades_until($1) AS until_ts
), starts AS (
  SELECT block_timestamp - block_timestamp % $3::int8 AS start_ts FROM live.swap
  WHERE chain_id = $1 AND pool = $2 AND block_timestamp >= (SELECT until_ts FROM mark) AND block_timestamp < $4
  UNION
  SELECT start_ts - start_ts % $3::int8 FROM (
    SELECT start_ts FROM history.trade_bar
    WHERE index_schema = (SELECT read_model.served_schema()) AND chain_id = $1 AND pool = $2 AND secs = $7
      AND start_ts < least($4::int8, (SELECT until_ts FROM mark))
    ORDER BY 1 DESC LIMIT $5::int8
  ) newest
)
SELECT until_ts AS "untilTs",
  (SELECT min(start_ts) FROM (SELECT start_ts FROM starts ORDER BY 1 DESC LIMIT $6::int8) page) AS "fromTs"
FROM mark
