-- Fill quality counts a swap only once its block is known to be final. Capture may still write rows of a day for an hour.
SELECT least(history.trades_until($1), extract(epoch FROM now())::int8 - 3600, (
  SELECT min(block_timestamp) FROM history.fill WHERE chain_id = $1 AND NOT is_final AND $2::text = 'fill_quality'
))::float8 AS "untilTs"
