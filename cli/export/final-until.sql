-- Fill quality counts a swap only once its block is known to be final. Capture may still write rows of a day for an hour, those of
-- persistence until ten minutes past the next one (capture/persistence/write-days.sql).
-- Yields have no days of before that could change: they are of one time, whose day is written as it is.
SELECT CASE $2::text WHEN 'pool_yields' THEN extract(epoch FROM now()) + 86400
  ELSE least(history.trades_until($1), extract(epoch FROM now())::int8 - CASE $2::text WHEN 'quote_persistence' THEN 7200 ELSE 3600 END, (
    SELECT min(block_timestamp) FROM history.fill WHERE chain_id = $1 AND NOT is_final AND $2::text = 'fill_quality'
  )) END::float8 AS "untilTs"
